import { spawn } from 'node:child_process';

/**
 * The environment without what could make a consumer behave differently from one that a user starts: the settings of the
 * npm that runs us, of NestLens and of OpenTelemetry.
 */
export function cleanEnvironment() {
  const foreign =
    /^(npm_(lifecycle|package|command|execpath|node_execpath|config_local_prefix)|INIT_CWD|NODE_OPTIONS|NEST_LENS_|NEMO_LENS_|OTEL_|JEST_|VITEST)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

/**
 * Runs a program to its end and returns what it wrote, both streams in one.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} options
 * @returns {Promise<{ status: number | null, output: string }>}
 */
export function runCommand(program, args, { cwd, env = cleanEnvironment(), timeoutMs = 300_000 }) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    const keep = (chunk) => void (output += chunk);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => resolve({ status: null, output: `${output}${error.message}\n` }));
    child.on('close', (status, signal) => {
      if (signal) output += `\nended by ${signal}, after at most ${timeoutMs / 1000} s\n`;
      resolve({ status, output });
    });
  });
}

/**
 * Runs npm with the Node that is given, so that what it installs fits that Node.
 *
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, node?: string }} options
 */
export function runNpm(args, { node = process.execPath, ...options }) {
  const npmCli = process.env.npm_execpath;
  if (!npmCli) throw new Error('Run this with `npm run compat`: npm says where it is.');
  return runCommand(node, [npmCli, ...args], options);
}
