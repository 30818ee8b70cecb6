import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import ts from 'typescript';

// The rules of CONTRIBUTING.md that lint doesn't check, as a look at the syntax of src.

const root = fileURLToPath(new URL('../..', import.meta.url));

const sources = readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({
    name: path.slice(`${root}src/`.length).replaceAll('\\', '/'),
    tree: ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2023, true),
  }));

/** The files that have a node of which `test` is true. Comments are no nodes. */
function filesWith(test: (node: ts.Node) => boolean): string[] {
  const has = (node: ts.Node): boolean =>
    test(node) || (ts.forEachChild(node, (child) => has(child) || undefined) ?? false);
  return sources.filter(({ tree }) => has(tree)).map(({ name }) => name);
}

/** `something.end(…)`, where the something is a span by its name: `span`, `this.span`, `open.span`. */
function endsSpan(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  return name.text === 'end' && /(^|\.)\w*span$/i.test(expression.getText());
}

describe('the sources', () => {
  it('end spans in in-flight-span, and nowhere else', () => {
    expect(filesWith(endsSpan)).toEqual(['core/spans/in-flight-span.ts']);
  });

  it('keep process-wide state in process-state; otel-globals looks at the slot of OpenTelemetry', () => {
    const files = filesWith((node) => ts.isIdentifier(node) && /^(globalThis|global)$/.test(node.text));
    // `global: true` is a property of a dynamic module, and no variable.
    expect(files.filter((name) => name !== 'nest/root-module.ts').sort()).toEqual([
      'core/state/process-state.ts',
      'core/telemetry/otel-globals.ts',
    ]);
  });

  it('start spans in span-plan, which survives an SDK that throws; those of instrumentations are handed on', () => {
    const starts = (node: ts.Node): boolean =>
      ts.isPropertyAccessExpression(node) && /^start(Active)?Span$/.test(node.name.text);
    expect(filesWith(starts).sort()).toEqual([
      'core/instrumentations/gated-provider.ts',
      'core/spans/span-plan.ts',
      'core/telemetry/sdk-instrumentations.ts',
      // A testbed's tracer is called by others, and hands on to theirs where there is no testbed.
      'testing/testbed-tracer-provider.ts',
    ]);
  });
});
