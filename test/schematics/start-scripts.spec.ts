import { describe, expect, it } from 'vitest';
import { addToStartScripts, withRegister } from '../../src/schematics/start-scripts.js';
import { WorkspaceTree } from '../support/workspace-tree.js';

const FLAG = '--import nest-lens/register';

describe('a start script', () => {
  it.each([
    ['node dist/main', `node ${FLAG} dist/main`],
    ['node --enable-source-maps dist/main.js', `node ${FLAG} --enable-source-maps dist/main.js`],
    ['cross-env NODE_ENV=production node dist/main', `cross-env NODE_ENV=production node ${FLAG} dist/main`],
    ['npm run build && node dist/main', `npm run build && node ${FLAG} dist/main`],
    ['nest start', `nest start --exec "node ${FLAG}"`],
    ['nest start shop --watch', `nest start shop --watch --exec "node ${FLAG}"`],
    ['nest start --watch -- --port 1', `nest start --watch --exec "node ${FLAG}" -- --port 1`],
    ['nest start && echo done', `nest start --exec "node ${FLAG}" && echo done`],
    ['npx nest start --debug', `npx nest start --debug --exec "node ${FLAG}"`],
  ])('gets the flag: %s', (command, expected) => {
    expect(withRegister(command)).toBe(expected);
    expect(withRegister(expected)).toBe(expected);
  });

  it.each([['npm run start:prod'], ['pnpm start:dev'], ['node --require nest-lens/register dist/main']])(
    'needs none: %s',
    (command) => expect(withRegister(command)).toBe(command),
  );

  it.each([
    ['nest start --exec bun'],
    ['nest start -e "node -r x"'],
    ['nest start --no-shell'],
    ['ts-node src/main.ts'],
    ['pm2 start shop'],
    ['node'],
  ])('is left, and named: %s', (command) => expect(withRegister(command)).toBeUndefined());

  it('is changed in place: the rest of package.json stays as it is written', () => {
    const text =
      '{\r\n    "config": { "start": "node dist/main" },\r\n    "scripts": {"start" : "node dist\\/main",\t"start:x": "tsx src/main.ts"}}';
    const tree = new WorkspaceTree({ 'package.json': text });
    expect(addToStartScripts(tree)).toEqual({
      text: text.replace('"node dist\\/main"', `"node ${FLAG} dist/main"`),
      changed: ['start'],
      unknown: ['start:x'],
    });
  });
});
