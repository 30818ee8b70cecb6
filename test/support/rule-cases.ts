import { describe, it } from 'vitest';
import { RuleTester } from 'eslint';
import { plugin } from 'nest-lens/eslint';
import tseslint from 'typescript-eslint';

RuleTester.describe = (text, method) => describe(text, method as () => void);
RuleTester.it = (text, method) => it(text, method as () => void);
RuleTester.itOnly = RuleTester.it;

const PARSERS = {
  JavaScript: {},
  TypeScript: { parser: tseslint.parser },
};

/** What snippets import, if they don't import by themselves. */
const IMPORT =
  "import { defineSpanGroups, isSpanGroupEnabled, managedSpan, NestLensModule, NoSpanGroup, SpanGroup, SpanRegistry, traceFn, withSpan } from 'nest-lens';\n";

const withImport = (code: string): string => (/nest-lens/.test(code) ? code : IMPORT + code);

/** One snippet that the rule complains about once, and with which of its messages. */
export type InvalidCase = [code: string, messageId: string, data?: Record<string, string>];

export interface RuleCases {
  /** Snippets in which the rule finds nothing. */
  readonly valid: readonly string[];
  readonly invalid: readonly InvalidCase[];
}

/** Runs a rule over snippets with ESLint's tester: those in JavaScript with both parsers. */
export function testRule(name: string, cases: { both?: RuleCases; typescript?: RuleCases }): void {
  for (const [language, options] of Object.entries(PARSERS)) {
    const lists = language === 'JavaScript' ? [cases.both] : [cases.both, cases.typescript];
    // A parser whose snippets are none has no tests to name.
    if (lists.every((each) => each === undefined)) continue;
    const tester = new RuleTester({ languageOptions: options });
    tester.run(`${name}, ${language}`, plugin.rules![name]!, {
      valid: lists.flatMap((each) => each?.valid ?? []).map(withImport),
      invalid: lists
        .flatMap((each) => each?.invalid ?? [])
        .map(([code, messageId, data]) => ({
          code: withImport(code),
          errors: [data === undefined ? { messageId } : { messageId, data }],
        })),
    });
  }
}
