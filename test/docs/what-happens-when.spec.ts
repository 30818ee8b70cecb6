import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}docs/what-happens-when.md`, 'utf8');

const EARLY = 'lifecycle/early-start';
const LOST = 'lifecycle/nothing-is-lost';
const HANGS = 'lifecycle/nothing-hangs';
const DOUBLE = 'lifecycle/nothing-is-double';
const OPEN = 'lifecycle/open-spans-at-shutdown';
const SETTINGS = 'lifecycle/settings-of-the-sdk';
const SET_UP = 'core/telemetry';

/** The first cell of a line -> the tests that pin it: a file, and a part of what is in it, the title or the row of a table. */
const PINNED_BY: Record<string, [file: string, text: string][]> = {
  'nothing is set': [[SET_UP, 'H2: builds no provider, pins the empty set']],
  '`OTEL_SDK_DISABLED` is `true`': [[SETTINGS, "OTEL_SDK_DISABLED: ' TRUE '"]],
  '`NEST_LENS_ENABLED=true`': [[EARLY, 'H6: warns of nothing when no instrumentation is given']],
  '`node --import nest-lens/register` comes first': [[EARLY, 'have its HTTP spans, and judges the spec']],
  '`nest-lens/register` fails': [[EARLY, 'an SDK that fails to start stops nothing, and is said once']],
  '`telemetry.instrumentations` patch what is loaded already': [
    [EARLY, 'H6: warns once that given instrumentations come too late'],
  ],
  'a tracer provider is registered already': [[LOST, 'of an application that runs its own SDK are flushed']],
  'mode is `attach` and there is no provider': [[LOST, 'where there is no SDK to attach to']],
  "a variable has a value that isn't allowed": [[EARLY, 'a wrong variable stops nothing, and is said once']],
  'the collector is away': [
    [HANGS, 'is not there, the application starts, serves'],
    [HANGS, 'costs bounded memory'],
  ],
  'another application of the process is live': [[DOUBLE, 'three at once share one set-up']],
  'nothing listens to SIGTERM two seconds after the start': [[LOST, 'a signal that nobody listens to']],
  '`app.close()` is called': [[LOST, 'are exported on app.close()']],
  'SIGTERM or SIGINT comes, with `enableShutdownHooks()`': [[LOST, 'are exported on %s, those of hooks too']],
  'SIGTERM comes, without it': [[LOST, 'a signal that nobody listens to']],
  'the process has nothing left to do': [[LOST, 'where the process has nothing left to do']],
  'a span is still open': [
    [OPEN, 'are ended newest first and exported'],
    [LOST, 'in the middle of a request'],
  ],
  'the application goes on writing to such a span': [
    [OPEN, 'may be written to and ended by the application'],
  ],
  "another module's shutdown hook throws": [[LOST, 'when the hook %s of another module throws']],
  'the collector is away, hangs, answers 503, resets or trickles': [
    [HANGS, "['never answers', '503', 'resets', 'trickles']"],
  ],
  'the application is closed twice at once': [[DOUBLE, 'each closed twice at once']],
  'other applications of the process are live': [[DOUBLE, 'which the last close ends']],
  'telemetry is set up again afterwards': [[SET_UP, 'set up, shut down, set up again']],
};

const UNTESTED = [
  // Node ends there and then; there is nothing of ours to run.
  '`process.exit()` is called',
];

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

function linesOf(...headings: string[]): string[][] {
  return headings.flatMap((heading) => {
    const section = page.split(/^## /m).find((text) => text.startsWith(heading))!;
    return section
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .map(cellsOf);
  });
}

describe('what-happens-when.md', () => {
  const cases = linesOf('…the application starts', '…the application ends').map(([when]) => when!);

  it('has the lines that tests pin, and no others', () => {
    expect([...cases].sort()).toEqual([...Object.keys(PINNED_BY), ...UNTESTED].sort());
  });

  it.each(Object.entries(PINNED_BY))('when %s: there is a test of it', (_, pins) => {
    for (const [file, text] of pins) {
      expect(readFileSync(`${root}test/${file}.spec.ts`, 'utf8')).toContain(text);
    }
  });

  it('H11: names only variables that a test sets, and none that is not in force', () => {
    const test = readFileSync(`${root}test/${SETTINGS}.spec.ts`, 'utf8');
    const lines = linesOf('…a variable of the SDK is set');
    for (const [variables, inForce] of lines) {
      expect(inForce).toBe('yes');
      for (const [name] of variables!.matchAll(/OTEL_[A-Z_]+/g)) expect(test).toContain(name);
    }
    expect(lines.length).toBeGreaterThan(8);
  });

  it('names only codes of warnings that there are', () => {
    const table = readFileSync(`${root}src/core/warnings.ts`, 'utf8');
    const codes = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code!);
    for (const code of codes.filter((found) => !/^(OTEL|NEST_LENS)_/.test(found)))
      expect(table).toContain(`${code}: `);
  });
});
