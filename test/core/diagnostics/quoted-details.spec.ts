import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  defineSpanGroups,
  nestLensConfigFromEnv,
  overrideSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
} from 'nest-lens/core';
import { emitWarnings } from '../../../src/core/diagnostics/warnings.js';
import { processState, resetProcessState } from '../../../src/core/state/process-state.js';
import { captureWarnings } from '../../support/capture-warnings.js';

/** No message is longer: four lists of 2,000 characters, ten near names, a spec and the words around them. */
const MAX_MESSAGE = 16_000;
const ESCAPE = '\u001b';

/** What would forge a line of a log, steer a terminal, hide or turn around what is shown. */
const HOSTILE = {
  'a line feed': 'a\nERROR [Auth] admin logged in',
  'a carriage return': 'a\rERROR',
  'a red escape sequence': `${ESCAPE}[31mred`,
  'a title of the terminal': `${ESCAPE}]0;pwned\u0007`,
  'a C1 control': 'a\u009b31m',
  'a backspace': 'a\b\b\bb',
  'a NUL': 'a\0b',
  'a line separator': 'a\u2028b\u2029c',
  'a vertical tab': 'a\u000bb\u000cc\u0085d',
  'a right-to-left override': 'a\u202egpj.exe',
  'isolates and marks': '\u2066a\u2069\u200e\u061c',
  'a zero-width space': 'or\u200bders',
  'a byte order mark': '\ufeffor\u2060ders\u00ad',
  'tags, which are invisible letters': 'a\u{e0041}\u{e0042}',
  'a filler that looks like a blank': 'a\u3164b\u00a0c\u3000d',
  'half a surrogate pair': 'a\ud83d',
};
const NAMES = Object.entries(HOSTILE);

/** Printable, and one line; written another way than the code does. */
function isPlain(message: string): boolean {
  for (const character of message) {
    const code = character.codePointAt(0)!;
    if (code < 0x20 || (code >= 0x7f && code <= 0xa0) || code === 0xad || code === 0x61c) return false;
    if ((code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202f)) return false;
    if ((code >= 0x2060 && code <= 0x206f) || code === 0x3000 || code === 0x3164) return false;
    if ((code >= 0xd800 && code <= 0xdfff) || code === 0xfeff) return false;
    if (code >= 0xe0000 && code <= 0xe0fff) return false;
  }
  return message.length <= MAX_MESSAGE;
}

function messageOfError(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}

/** Each way in which somebody's text gets into a warning. */
const WARNED: Record<string, (text: string) => void> = {
  'W2: a spec on an empty registry': (text) => setSpanGroupSpec(text),
  'W3: an entry of a spec': (text) => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec(`orders,${text}`);
  },
  'T7: the spec of an override': (text) => {
    SpanRegistry.register('shop', ['orders']);
    overrideSpanGroups(text);
  },
  'W4: a spec that selects nothing': (text) => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec(`orders,${text},-*`);
  },
  'W3: registered names and namespaces': (text) => {
    SpanRegistry.register(text, [`g${text}`], { [`p${text}`]: [`g${text}`] });
    setSpanGroupSpec('tpyo');
  },
  'W3: a near name': (text) => {
    SpanRegistry.register('shop', [`name_${text}x`]);
    setSpanGroupSpec(`name_${text}y`);
  },
  'R6: namespaces that share a group': (text) => {
    SpanRegistry.register(text, [`g${text}`]);
    SpanRegistry.register(`${text}2`, [`g${text}`]);
  },
  'R10: a preset and its members': (text) =>
    SpanRegistry.register(text, ['orders'], { [text]: [`m${text}`] }),
  'R21: a preset that shadows a group': (text) =>
    SpanRegistry.register(text, [`n${text}`], { [`n${text}`]: [] }),
  'R23: the style of a name': (text) => SpanRegistry.register('shop', [`g-${text}`]),
  'W9: a site and its group': (text) =>
    emitWarnings([{ code: 'UNKNOWN_GROUP_AT_SITE', details: { site: text, group: text, nearest: text } }]),
  'I14: the message of an error, and the name of a span': (text) =>
    emitWarnings([{ code: 'ATTRIBUTES_FAILED', details: { span: text, error: new Error(text) } }]),
  'I14: a thrown text': (text) => emitWarnings([{ code: 'SETUP_FAILED', details: { error: text } }]),
};

const THROWN: Record<string, (text: string) => unknown> = {
  'R4: an empty group of a namespace': (text) => SpanRegistry.register(text, ['']),
  'R4: a reserved group of a namespace': (text) => SpanRegistry.register(text, ['all']),
  'R4: a namespace that is registered': (text) => {
    SpanRegistry.register(text, ['orders'], {}, { allowOverride: true });
    SpanRegistry.register(text, ['other']);
  },
  'R14: a namespace that is not registered': (text) => {
    SpanRegistry.register(`other${text}`, [], {}, { allowOverride: true });
    SpanRegistry.unregister(text);
  },
  'C3: the value of a variable': (text) =>
    nestLensConfigFromEnv({ env: { NEST_LENS_ENABLED: `x${text.replaceAll('\0', '')}` } }),
};

describe('what a warning quotes', () => {
  it.each(Object.entries(WARNED))('%s is escaped, whatever is in it', (_where, warn) => {
    for (const [kind, text] of NAMES) {
      resetProcessState();
      const warnings = captureWarnings();
      warn(text);
      expect(warnings.all.length).toBeGreaterThan(0);
      const recorded = processState.recordedWarnings.map(({ message }) => message);
      const messages = [...warnings.all.map(({ message }) => message), ...recorded];
      expect({ kind, raw: messages.filter((message) => !isPlain(message)) }).toEqual({ kind, raw: [] });
    }
  });

  it.each(Object.entries(WARNED))('%s is cut when it is long', (_where, warn) => {
    const warnings = captureWarnings();
    warn('x'.repeat(90_000));
    expect(warnings.all.length).toBeGreaterThan(0);
    for (const { message } of [...warnings.all, ...processState.recordedWarnings]) {
      expect(message.length).toBeLessThan(MAX_MESSAGE);
    }
  });

  it('W3: lists of many long names are cut as well', () => {
    const long = Array.from({ length: 5_000 }, (_, i) => `${'\n'.repeat(200)}x${i}${'\n'.repeat(1_000)}y`);
    const warnings = captureWarnings();
    SpanRegistry.register(
      'huge',
      long,
      Object.fromEntries(long.map((name) => [`p${name}`, long.slice(0, 3)])),
    );
    for (const name of long.slice(0, 100)) SpanRegistry.register(name, []);
    setSpanGroupSpec(
      long
        .slice(0, 80)
        .map((name) => `${name}z`)
        .join(','),
    );
    expect(new Set(warnings.codes())).toEqual(new Set(['NAME_STYLE', 'SPEC_UNRESOLVED']));
    for (const { message } of warnings.all) expect(isPlain(message)).toBe(true);
  });

  it('W3: says how long it was, and shows ordinary names and specs as they are', () => {
    const warnings = captureWarnings();
    setSpanGroupSpec('größe,注文,l’été,orders_*,-db 2');
    setSpanGroupSpec('a'.repeat(400));
    expect(warnings.all[0]!.message).toContain("'größe,注文,l’été,orders_*,-db 2'");
    expect(warnings.all[1]!.message).toContain(`'${'a'.repeat(300)}… (400 characters)'`);
  });

  it('W3: a cut goes through no character', () => {
    const warnings = captureWarnings();
    setSpanGroupSpec('😀'.repeat(200));
    setSpanGroupSpec(`a${'😀'.repeat(200)}`);
    setSpanGroupSpec(`\n${'😀'.repeat(148)}abc😀`);
    for (const { message } of warnings.all) expect(message).toMatch(/^\P{Cs}*$/u);
  });

  it('W3: an escape is readable', () => {
    const warnings = captureWarnings();
    setSpanGroupSpec(`a\nb\tc\r${ESCAPE}[31m\u{e0041}`);
    expect(warnings.all[0]!.message).toContain(String.raw`'a\nb\tc\r\u001b[31m\u{e0041}'`);
  });

  it('W3: any text at all gives one plain line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        resetProcessState();
        const warnings = captureWarnings();
        SpanRegistry.register(`n${text}`, [`g${text}`]);
        setSpanGroupSpec(`tpyo${text}`);
        for (const { message } of warnings.all) {
          expect(message).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]*$/u);
          expect(message.split(/\s*[\r\n\v\f\u0085\u2028\u2029]\s*/u)).toHaveLength(1);
        }
      }),
    );
  });

  it('W3: the facts beside the message stay as they are', () => {
    const warnings = captureWarnings();
    setSpanGroupSpec('a\nb');
    expect(warnings.single('NOTHING_REGISTERED').details).toEqual({ spec: 'a\nb' });
  });
});

describe('what an error quotes', () => {
  it.each(Object.entries(THROWN))('%s is escaped and cut', (_where, call) => {
    captureWarnings();
    for (const [kind, text] of [...NAMES, ['a long one', 'x'.repeat(1_000_000)] as const]) {
      resetProcessState();
      captureWarnings();
      const message = messageOfError(() => call(text));
      expect({ kind, plain: isPlain(message), message }).toEqual({ kind, plain: true, message });
    }
  });

  it('R4: of a definition too', () => {
    captureWarnings();
    const bad = defineSpanGroups({ namespace: 'a\nb', groups: [' '] });
    expect(messageOfError(() => bad.register())).toContain(String.raw`'a\nb'`);
  });
});
