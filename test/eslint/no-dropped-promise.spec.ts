import { testRule } from '../support/rule-cases.js';

const DROPPED = "managedSpan('a', 'b', async () => 1)";

testRule('no-dropped-promise', {
  both: {
    valid: [
      // No promise, as far as can be seen.
      "managedSpan('a', 'b', () => 1);",
      "managedSpan('a', 'b', () => this.orders.save());",
      "managedSpan('a', 'b', body);",
      "managedSpan('a', 'b', async function* () {});",
      "managedSpan('a', 'b', () => { const inner = async () => 1; list.push(inner); });",
      "class A { save() {} run() { managedSpan('a', 'b', () => this.save()); } }",
      // Somebody waits for it, or says that nobody has to.
      `await ${DROPPED};`,
      `void ${DROPPED};`,
      `const done = ${DROPPED};`,
      `${DROPPED}.catch(report);`,
      `${DROPPED}.then(report, report);`,
      `${DROPPED}.finally(close).catch(report);`,
      `function f() { return ${DROPPED}; }`,
      `const f = () => ${DROPPED};`,
      `await Promise.all(list.map(() => ${DROPPED}));`,
      `run(${DROPPED});`,
    ],
    invalid: [
      [`${DROPPED};`, 'dropped'],
      ["managedSpan('a', 'b', { kind: 2 }, async () => 1);", 'dropped'],
      ["withSpan('b', async () => 1);", 'dropped'],
      ["withSpan('b', { kind: 2 }, async () => 1);", 'dropped'],
      [`${DROPPED}.then(report);`, 'dropped'],
      [`${DROPPED}.finally(close);`, 'dropped'],
      [`isOn && ${DROPPED};`, 'dropped'],
      [`isOn ? ${DROPPED} : undefined;`, 'dropped'],
      [`list.forEach(() => ${DROPPED});`, 'dropped'],
      ["const work = async () => 1;\nmanagedSpan('a', 'b', work);", 'dropped'],
      ["async function work() {}\nmanagedSpan('a', 'b', () => work());", 'dropped'],
      ["managedSpan('a', 'b', () => Promise.all([]));", 'dropped'],
      ["managedSpan('a', 'b', () => new Promise(run));", 'dropped'],
      ["managedSpan('a', 'b', () => fetch(url));", 'dropped'],
      ["managedSpan('a', 'b', () => { if (x) return load().then(parse); });", 'dropped'],
      ["managedSpan('a', 'b', () => managedSpan('c', 'd', async () => 1));", 'dropped'],
      ["class A { async save() {} run() { managedSpan('a', 'b', () => this.save()); } }", 'dropped'],
    ],
  },
  typescript: {
    valid: [],
    invalid: [
      ["(managedSpan('a', 'b', async () => 1) as Promise<number>);", 'dropped'],
      ["managedSpan<Promise<number>>('a', 'b', async (span): Promise<number> => 1);", 'dropped'],
    ],
  },
});
