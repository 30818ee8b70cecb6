import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compileProgram } from '../support/compile-program.js';
import { root } from './documentation.js';

/**
 * Compiles snippets and runs them in a process of its own, with the package as it is built: the last one is the program.
 *
 * @param nodeOptions as the pages say, such as `--import ./tracing.js`
 */
export async function startCompiled(
  snippets: readonly string[],
  nodeOptions: readonly string[],
  variables: Record<string, string>,
) {
  mkdirSync(`${root}temp`, { recursive: true });
  const folder = mkdtempSync(`${root}temp/snippets-`);
  for (const snippet of snippets) {
    const source = readFileSync(`${root}test/docs/snippets/${snippet}.ts`, 'utf8');
    writeFileSync(`${folder}/${snippet}.js`, compileProgram(source));
  }
  const port = await freePort();
  const child = spawn(process.execPath, ['--no-opt', ...nodeOptions, `${snippets.at(-1)}.js`], {
    cwd: folder,
    env: { ...process.env, ...variables, PORT: String(port), NODE_OPTIONS: '', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const started = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('successfully started')) resolve();
      });
    }
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${output}`)));
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await started;
    while (!(await fetch(url).catch(() => undefined)))
      await new Promise((resolve) => setTimeout(resolve, 20));
  } catch (reason) {
    await stop();
    throw reason;
  }
  return { url, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
