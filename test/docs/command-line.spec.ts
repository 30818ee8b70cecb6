import { describe, expect, it } from 'vitest';
import { runInProcess } from '../support/run-command.js';
import { quoted, readPage } from './documentation.js';

describe('docs/command-line.md', () => {
  const page = readPage('docs/command-line.md');

  it('names every command, in the order of the help', async () => {
    const { out } = await runInProcess(['--help']);
    const commands = [...out.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name);
    const rows = page.table('Command', 'What it does', 'It needs');
    expect(rows.map(([name]) => quoted(name!)[0])).toEqual(commands);
  });

  it('shows commands whose options there are', async () => {
    const shown = [page, readPage('docs/one-request.md')]
      .flatMap((each) => each.blocks('sh'))
      .flatMap((block) => [...block.matchAll(/npx nest-lens ([^\n#|>)]*)/g)].map(([, line]) => line!.trim()));
    expect(shown.length).toBeGreaterThan(6);
    for (const line of shown) {
      const [command, ...rest] = line.split(/\s+/);
      const options = rest.filter((word) => word.startsWith('--'));
      const { out } = await runInProcess([command!, '--help']);
      for (const option of options) expect(out).toContain(`  ${option}`);
    }
  });
});
