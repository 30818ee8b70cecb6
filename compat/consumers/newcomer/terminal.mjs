import { spawn } from 'node:child_process';
import { once } from 'node:events';

const START_WITHIN_MS = 180_000;

/**
 * A newcomer's terminal: types commands into a shell, in a folder that `cd` changes, and keeps what they wrote.
 *
 * @param {{ folder: string, env: NodeJS.ProcessEnv }} options
 */
export function openTerminal({ folder, env }) {
  let cwd = folder;

  /** @param {string} command */
  const open = (command) => {
    const moved = /^cd (\S+) && (.*)$/.exec(command);
    if (moved) cwd = `${cwd}/${moved[1]}`;
    // Of a process group of its own, so that Ctrl+C reaches all of it.
    const child = spawn(moved ? moved[2] : command, {
      cwd,
      env,
      shell: true,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const written = { text: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (written.text += text));
    }
    return { child, written };
  };

  return {
    /** Types a command, and waits for its end. Answers what it wrote. @param {string} command */
    async type(command) {
      const { child, written } = open(command);
      const [status] = await once(child, 'close');
      console.log(`$ ${command}\n${written.text}`);
      if (status !== 0) throw new Error(`\`${command}\` ended with ${status}.`);
      return written.text;
    },

    /** Types a command that serves an application, and waits until it does. @param {string} command */
    async serve(command) {
      const { child, written } = open(command);
      const ended = once(child, 'close');
      const close = async () => {
        try {
          process.kill(-child.pid, 'SIGINT');
        } catch {
          // It has ended by itself.
        }
        await ended;
        console.log(`$ ${command}\n${written.text}`);
      };
      const until = async (pattern, withinMs) => {
        const deadline = Date.now() + withinMs;
        while (!pattern.test(written.text)) {
          if (Date.now() > deadline || child.exitCode !== null) {
            await close();
            throw new Error(`\`${command}\` didn't write ${pattern} within ${withinMs / 1000} s.`);
          }
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      };
      await until(/successfully started/, START_WITHIN_MS);
      return { written, until, close };
    },
  };
}
