/** Starts the processes that measure. Each does one thing, so that what V8 learns in it is about that thing. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Runs a process of the benches to its end.
 *
 * @param {string} file beside this one
 * @param {object} task what it is to do; it finds it as JSON in its first argument
 * @param {{ flags?: string[], node?: string }} [options] V8's flags, and another Node than this one
 * @returns {Promise<any>} what it sends
 */
export function runProcess(file, task, { flags = [], node = process.execPath } = {}) {
  const child = startProcess(file, task, { flags, node });
  return new Promise((resolve, reject) => {
    let answer;
    child.on('message', (message) => (answer = message));
    child.on('error', reject);
    child.on('exit', (code) => {
      if (code === 0 && answer !== undefined) resolve(answer);
      else reject(new Error(`${file} ${JSON.stringify(task)} ended with ${code}`));
    });
  });
}

/**
 * Starts a process that is talked to while it runs.
 *
 * @param {string} file beside this one
 * @param {object} task
 * @param {{ flags?: string[], node?: string, env?: Record<string, string> }} [options]
 */
export function startProcess(file, task, { flags = [], node = process.execPath, env = {} } = {}) {
  return fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(task)], {
    execPath: node,
    execArgv: flags,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
  });
}
