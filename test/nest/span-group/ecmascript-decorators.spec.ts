import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import ts from 'typescript';

/** Runs TypeScript as it is compiled without `experimentalDecorators`: decorators are those of ECMAScript then. */
function run(source: string): void {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS },
  });
  vm.runInNewContext(outputText, { SpanGroup, NoSpanGroup });
}

describe('without experimentalDecorators', () => {
  it.each([
    ['@SpanGroup', 'a class', "@SpanGroup('orders') class A {}"],
    ['@SpanGroup', 'a method', "class A { @SpanGroup('orders') list() {} }"],
    ['@SpanGroup', 'a static method', "class A { @SpanGroup('orders') static list() {} }"],
    ['@SpanGroup', 'a private method', "class A { @SpanGroup('orders') #list() {} }"],
    ['@SpanGroup', 'a method named by a symbol', "class A { @SpanGroup('orders') [Symbol.iterator]() {} }"],
    ['@SpanGroup', 'a field', "class A { @SpanGroup('orders') list = 1 }"],
    ['@NoSpanGroup', 'a class', '@NoSpanGroup() class A {}'],
    ['@NoSpanGroup', 'a method', 'class A { @NoSpanGroup() list() {} }'],
    ['@NoSpanGroup', 'an accessor', 'class A { @NoSpanGroup() get list() { return 1 } }'],
  ])('N4: %s on %s throws an error that names the option', (decorator, _place, source) => {
    let thrown: any;
    try {
      run(source);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'NestLensError', code: 'EXPERIMENTAL_DECORATORS_OFF' });
    expect(thrown.message).toContain(decorator);
    expect(thrown.message).toContain('"experimentalDecorators": true');
  });
});
