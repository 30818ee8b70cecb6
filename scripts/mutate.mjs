/**
 * npm run mutate -- src/nest/span-group/covered-call.ts [test ...]   breaks a file in one place at a time, and runs its tests
 *
 * It lists the breaks that no test sees. The tests that are given run first, or else the file's own spec; what they don't see
 * is tried on the folder that mirrors the file's. It writes into the file while it runs, and puts it back; so run it in a
 * worktree of its own.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import ts from 'typescript';
import config from '../jest.config.mjs';

/** A break that makes a test wait counts as seen after that many times what the tests take without it. */
const MAX_SLOWDOWN = 4;
const SHORTEST_LIMIT_MS = 15_000;

const OPERATORS = {
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '<': '>=',
  '>': '<=',
  '<=': '>',
  '>=': '<',
  '+': '-',
  '-': '+',
};

/** @typedef {{ start: number, end: number, text: string }} Break */

/** @returns {Break[]} each a change of one expression or statement */
function breaksOf(source) {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true);
  const breaks = [];
  const replace = (node, text) => breaks.push({ start: node.getStart(file), end: node.end, text });
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const other = OPERATORS[node.operatorToken.getText(file)];
      if (other) replace(node.operatorToken, other);
    }
    if (ts.isIfStatement(node)) {
      replace(node.expression, 'true');
      replace(node.expression, 'false');
    }
    if (ts.isConditionalExpression(node)) {
      replace(node.condition, 'true');
      replace(node.condition, 'false');
    }
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      replace(node, node.operand.getText(file));
    }
    if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, 'false');
    if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, 'true');
    if (ts.isExpressionStatement(node)) replace(node, ';');
    if (ts.isReturnStatement(node) && node.expression) replace(node, 'return;');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return breaks;
}

/** @returns {boolean} whether the tests fail, or take longer than `timeout` */
function fail(tests, timeout) {
  const { globalSetup: _, reporters: __, ...rest } = config;
  const settings = JSON.stringify({ ...rest, rootDir: process.cwd(), reporters: [] });
  const jest = ['node_modules/jest/bin/jest.js', '--config', settings, '-w', '1', '--bail', '--silent'];
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  // Not SIGTERM: an endless loop never comes to handle it.
  const run = spawnSync(process.execPath, [...flags, ...jest, ...tests], { timeout, killSignal: 'SIGKILL' });
  return run.status !== 0;
}

/** @returns {() => boolean} whether these tests see what is broken now */
function watch(tests) {
  const start = Date.now();
  if (fail(tests)) throw new Error(`Nothing is broken yet, and these tests fail: ${tests.join(' ')}`);
  const limit = Math.max(SHORTEST_LIMIT_MS, MAX_SLOWDOWN * (Date.now() - start));
  return () => fail(tests, limit);
}

const [path, ...given] = process.argv.slice(2);
if (path === undefined) throw new Error('Name a file of src.');
const own = path.replace(/^src/, 'test').replace(/\.ts$/, '.spec.ts');
const near = given.length > 0 ? given : [own].filter((spec) => existsSync(spec));
const stages = [near, [`${dirname(own)}/`]].filter((tests) => tests.length > 0).map(watch);
const source = readFileSync(path, 'utf8');
const breaks = breaksOf(source);
let unseen = 0;
try {
  for (const { start, end, text } of breaks) {
    writeFileSync(path, source.slice(0, start) + text + source.slice(end));
    if (stages.some((isSeen) => isSeen())) continue;
    unseen++;
    const line = source.slice(0, start).split('\n').length;
    const before = source.slice(start, end).replace(/\s+/g, ' ');
    console.log(`${path}:${line}  ${before}  ->  ${text}`);
  }
} finally {
  writeFileSync(path, source);
}
console.log(`${path}: ${breaks.length} breaks, ${unseen} of them unseen`);
process.exitCode = unseen > 0 ? 1 : 0;
