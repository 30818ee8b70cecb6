// The cells of `npm run compat`: which consumer runs on what.

/** The Nodes, each by the version that is fetched for it. 20.19.0 is the oldest one that NestLens supports. */
export const NODES = {
  20.19: '20.19.0',
  20: '20.20.2',
  22: '22.23.3',
  24: '24.21.0',
  26: '26.10.0',
};

/** Sets of dependencies that a cell puts over those in its consumer's package.json. */
const NEST_11 = {
  '@nestjs/common': '11.2.10',
  '@nestjs/core': '11.2.10',
  '@nestjs/platform-express': '11.2.10',
  '@nestjs/platform-fastify': '11.2.8',
};
const NEST_12 = {
  '@nestjs/common': '12.5.1',
  '@nestjs/core': '12.5.1',
  '@nestjs/platform-express': '12.5.1',
  '@nestjs/platform-fastify': '12.5.0',
};
/** The first 12 that installs: the core of 12.0.0 asks for Nest 11. */
const NEST_12_FIRST = Object.fromEntries(Object.keys(NEST_12).map((name) => [name, '12.0.1']));
const SDK_2 = { '@opentelemetry/api': '1.9.1', '@opentelemetry/sdk-node': '0.223.0' };
const SDK_3 = { '@opentelemetry/api': '1.10.0', '@opentelemetry/sdk-node': '0.301.0' };
/** The lower end of every range in our peerDependencies. */
const LOWEST = {
  '@nestjs/common': '11.0.0',
  '@nestjs/core': '11.0.0',
  // The first ones of these two that don't ask for Nest 10.
  '@nestjs/platform-express': '11.0.1',
  '@nestjs/platform-fastify': '11.0.3',
  '@opentelemetry/api': '1.9.0',
  '@opentelemetry/sdk-node': '0.200.0',
  'reflect-metadata': '0.1.13',
  rxjs: '7.2.0',
};

/**
 * @typedef {object} Cell
 * @property {string} name
 * @property {string} consumer a folder of compat/consumers
 * @property {keyof typeof NODES} node
 * @property {string} modules how its modules are written
 * @property {Record<string, string>} [dependencies] over those of its package.json
 * @property {string[]} [installArguments]
 * @property {Record<string, string>} [env]
 * @property {number} [minutes] how long a step may take; 5 by default
 */

/** @type {(name: string, consumer: string, modules: string, cells: [node: keyof typeof NODES, ...dependencies: object[]][]) => Cell[]} */
function cellsOf(name, consumer, modules, cells) {
  return cells.map(([node, ...dependencies]) => ({
    name,
    consumer,
    modules,
    node,
    dependencies: Object.assign({}, ...dependencies),
  }));
}

/** The example library, in the three states in which an application may have it. @type {(node: keyof typeof NODES) => Cell[]} */
function libraryCells(node) {
  const cell = { consumer: 'library-user', node, modules: 'both' };
  const withLens = { 'nest-lens': '*' };
  return [
    { ...cell, name: 'library, no NestLens', env: { EXPECTED: 'nothing' } },
    { ...cell, name: 'library, NestLens', dependencies: withLens, env: { EXPECTED: 'nest-lens' } },
    // What package managers leave out that don't install peers by themselves.
    {
      ...cell,
      name: 'library, no API',
      dependencies: withLens,
      installArguments: ['--omit=peer'],
      env: { EXPECTED: 'nest-lens alone' },
    },
  ];
}

const HTTP_INSTRUMENTATIONS = {
  '@opentelemetry/instrumentation-http': '0.223.0',
  '@opentelemetry/instrumentation-express': '0.71.0',
};
const ALL_INSTRUMENTATIONS = { '@opentelemetry/auto-instrumentations-node': '0.82.0' };
const DISTRIBUTION = { '@elastic/opentelemetry-node': '1.18.0' };

/** An application in processes of its own, which are started early, told to stop, and run beside a vendor's distribution. @type {Cell[]} */
const PROCESS_CELLS = [
  ...cellsOf('process, Nest 11', 'real-process', 'CommonJS', [
    ['20', NEST_11, SDK_2, HTTP_INSTRUMENTATIONS],
  ]).map((cell) => ({ ...cell, env: { MAIN: 'main.cjs', NEST: '11' } })),
  ...cellsOf('process, Nest 12', 'real-process', 'ESM', [['24', NEST_12, SDK_3, ALL_INSTRUMENTATIONS]]).map(
    (cell) => ({ ...cell, env: { MAIN: 'main.mjs', NEST: '12' } }),
  ),
  ...cellsOf('process, distribution', 'real-process', 'ESM', [['20', NEST_12, SDK_2, DISTRIBUTION]]).map(
    (cell) => ({
      ...cell,
      env: { MAIN: 'main.mjs', NEST: '12', DISTRIBUTION: '@elastic/opentelemetry-node' },
    }),
  ),
];

/** What `nest new` makes, which takes long: it installs a few hundred packages. @type {Cell[]} */
const NEWCOMER_CELLS = [
  ...cellsOf('newcomer, Nest 11', 'newcomer', 'CommonJS', [['22']]).map((cell) => ({
    ...cell,
    env: { NEST: '11' },
  })),
  ...cellsOf('newcomer, Nest 12', 'newcomer', 'ESM', [['24']]).map((cell) => ({
    ...cell,
    env: { NEST: '12' },
  })),
].map((cell) => ({ ...cell, minutes: 20 }));

/** @type {Cell[]} */
export const CELLS = [
  ...cellsOf('jest + ts-jest', 'jest-commonjs', 'CommonJS', [['20', NEST_11, SDK_2]]),
  // So, and only from Node 24.9 on, jest can `require` a Nest that is ESM only.
  ...cellsOf('jest + ts-jest', 'jest-commonjs', 'CommonJS', [['24', NEST_12, SDK_3]]).map((cell) => ({
    ...cell,
    env: { NODE_OPTIONS: '--experimental-vm-modules' },
  })),
  ...cellsOf('jest + SWC', 'jest-swc', 'CommonJS', [['22', NEST_11, SDK_2]]),
  ...cellsOf('jest in ESM mode', 'jest-esm', 'ESM', [
    ['20', NEST_12, SDK_2],
    ['24', NEST_12, SDK_3],
  ]),
  ...cellsOf('vitest', 'vitest', 'ESM', [
    ['22', NEST_12, SDK_3],
    ['26', NEST_12, SDK_3],
  ]),
  ...cellsOf('esbuild, minified', 'bundle', 'CommonJS', [
    ['20', NEST_11, SDK_2],
    ['24', NEST_12, SDK_3],
  ]),
  ...cellsOf('oldest of all', 'node-commonjs', 'CommonJS', [['20.19', LOWEST]]),
  ...cellsOf('node', 'node-commonjs', 'CommonJS', [
    ['20', NEST_12, SDK_2],
    ['22', NEST_11, SDK_3],
    ['26', NEST_11, SDK_3],
  ]),
  ...cellsOf('node', 'node-esm', 'ESM', [
    ['20', NEST_12_FIRST, SDK_2],
    ['22', NEST_12, SDK_3],
    ['24', NEST_11, SDK_2],
    ['26', NEST_12, SDK_3],
  ]),
  ...PROCESS_CELLS,
  ...NEWCOMER_CELLS,
  ...libraryCells('20.19'),
  ...libraryCells('26'),
  ...cellsOf('bundlers, no SDK', 'bundlers', 'both', [['20']]),
  ...cellsOf('bundlers', 'bundlers', 'both', [['24', SDK_3]]),
  ...cellsOf('recipes', 'recipes', 'CommonJS', [['20'], ['22']]),
  ...cellsOf('nest add, Nest 11', 'nest-add', 'CommonJS', [
    ['20', NEST_11, SDK_2, { '@nestjs/cli': '11.0.13' }],
  ]),
  ...cellsOf('nest add, Nest 12', 'nest-add', 'ESM', [['24', NEST_12, SDK_3, { '@nestjs/cli': '12.0.8' }]]),
  // The packages that the guides are for: `nestjs-otel` asks for Node 22, the others for Nest 11.
  ...cellsOf('coming from', 'coming-from', 'CommonJS', [['22']]),
  ...cellsOf('eslint', 'eslint', 'both', [
    ['20', { eslint: '9.0.0' }],
    ['24', { eslint: '10.15.0', typescript: '6.0.3', 'typescript-eslint': '8.74.0' }],
  ]),
  ...cellsOf('size', 'size', 'ESM', [['20']]),
  ...cellsOf('types', 'types', 'both', [
    ['20', NEST_12, SDK_2],
    ['22', NEST_11, SDK_3],
  ]),
];
