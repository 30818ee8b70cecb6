import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { appendFile, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fileSpecSource } from 'nest-lens/core';
import { until } from '../../support/lens-app.js';
import { makeFolder, swapIn, updateConfigMap } from '../../support/spec-file.js';

vi.setConfig({ testTimeout: 20_000 });

/** What a source has told. */
interface Following {
  readonly specs: (string | undefined)[];
  readonly problems: unknown[];
  stop(): void;
  /** Each change has to be known within two seconds. */
  told(spec: string): Promise<void>;
  complained(): Promise<void>;
}

const all: Following[] = [];
let path: string;

async function follow(file = path): Promise<Following> {
  const specs: (string | undefined)[] = [];
  const problems: unknown[] = [];
  const stop = await fileSpecSource(file).watch(
    (spec) => void specs.push(spec),
    (problem) => void problems.push(problem),
  );
  const following: Following = {
    specs,
    problems,
    stop,
    async told(spec) {
      await until(() => specs.at(-1) === spec, 2_000);
      expect(specs.at(-1)).toBe(spec);
    },
    async complained() {
      await until(() => problems.length > 0, 2_000);
      expect(problems).toHaveLength(1);
    },
  };
  all.push(following);
  return following;
}

beforeEach(() => {
  path = join(makeFolder(), 'span-groups');
});
afterEach(() => all.splice(0).forEach(({ stop }) => stop()));

describe('fileSpecSource', () => {
  it.each([
    ['a line', 'orders,stock\n', 'orders,stock'],
    ['a line without an end', 'orders', 'orders'],
    ['lines', 'default,\norders\n\n  stock  \n', 'default,orders,stock'],
    ['lines of Windows', 'orders\r\n-stock\r\n', 'orders,-stock'],
    ['a byte order mark', '\ufefforders\n', 'orders'],
    ['comments', '# until Monday\norders\n  # stock\n', 'orders'],
    ['letters of any alphabet', 'bestellungen_größe,注文', 'bestellungen_größe,注文'],
  ])('reads %s', async (_what, content, spec) => {
    writeFileSync(path, content);
    const file = await follow();
    await file.told(spec);
    expect(file.problems).toEqual([]);
  });

  it('says once what is wrong with a file, keeps what it told, and takes the next good one', async () => {
    const spoilers: Record<string, (path: string) => void> = {
      'the file does not exist, or is a link that leads nowhere': (path) => rmSync(path),
      "the file is empty; to turn everything off, write '-all'": (path) => writeFileSync(path, ''),
      'the file has 1048576 bytes; at most 400000 are allowed': (path) =>
        writeFileSync(path, 'x'.repeat(2 ** 20)),
      'the file is not UTF-8': (path) => writeFileSync(path, Buffer.from('\ufefforders', 'utf16le')),
      'the file has control characters': (path) => writeFileSync(path, Buffer.alloc(64)),
      'the file is a folder': (path) => (rmSync(path), mkdirSync(path)),
      'the file is a link that leads to itself': (path) => (rmSync(path), symlinkSync(path, path)),
      'the file is a device, a pipe or a socket': (path) => (rmSync(path), symlinkSync('/dev/null', path)),
    };
    const folder = makeFolder();
    const outcomes = Object.entries(spoilers).map(async ([problem, spoil], at) => {
      const path = join(folder, String(at));
      writeFileSync(path, 'orders');
      const file = await follow(path);
      await file.told('orders');
      spoil(path);
      await file.complained();
      rmSync(path, { recursive: true, force: true });
      swapIn(path, 'stock');
      await file.told('stock');
      expect([problem, file.specs, file.problems]).toEqual([problem, ['orders', 'stock'], [problem]]);
    });
    await Promise.all(outcomes);
  });

  it.each([
    ['blanks, commas and comments only', /is empty/, ' \n\t\n,\n# orders\n'],
    ['half of a character at its end', /is not UTF-8/, Buffer.from('größe').subarray(0, 3)],
  ])('says that nothing is in a file with %s', async (_what, problem, content) => {
    writeFileSync(path, content);
    const file = await follow();
    await file.complained();
    expect(file.problems).toEqual([expect.stringMatching(problem)]);
  });

  it('says what is wrong from the beginning, and waits for a link to lead somewhere', async () => {
    symlinkSync('target', path);
    const file = await follow();
    await file.complained();
    writeFileSync(join(path, '../target'), 'orders');
    await file.told('orders');
    expect(file.specs).toEqual(['orders']);
  });

  // Whoever runs the tests as root may read everything.
  (process.getuid?.() === 0 ? it.skip : it)('says that the file may not be read', async () => {
    writeFileSync(path, 'orders');
    chmodSync(path, 0);
    const file = await follow();
    await file.complained();
    expect(file.problems).toEqual([expect.stringMatching(/may not be read/)]);
  });

  it('waits for a file, and for a folder, that is not there yet', async () => {
    const later = join(path, 'later', 'spec');
    const file = await follow(later);
    await file.complained();
    mkdirSync(join(path, 'later'), { recursive: true });
    writeFileSync(later, 'orders');
    await file.told('orders');
    expect(file.problems).toHaveLength(1);
  });

  it('does not take half of a file that is being written', async () => {
    writeFileSync(path, 'orders');
    const file = await follow();
    await file.told('orders');
    const writer = await open(path, 'w');
    for (const part of ['sto', 'ck,', 'pay', 'ment']) {
      await writer.write(part);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await writer.close();
    await file.told('stock,payment');
    expect([file.specs, file.problems]).toEqual([['orders', 'stock,payment'], []]);
  });

  it("follows the swap of a ConfigMap's link, and tells of it once", async () => {
    const folder = makeFolder();
    updateConfigMap(folder, { spec: 'orders', other: '1' });
    const file = await follow(join(folder, 'spec'));
    await file.told('orders');
    for (const spec of ['stock', 'payment', 'orders', 'all']) {
      updateConfigMap(folder, { spec, other: '1' });
      await file.told(spec);
    }
    updateConfigMap(folder, { spec: 'all', other: '2' });
    updateConfigMap(folder, { spec: '-all', other: '3' });
    await file.told('-all');
    expect([file.specs, file.problems]).toEqual([
      ['orders', 'stock', 'payment', 'orders', 'all', '-all'],
      [],
    ]);
  });

  it('follows what no event tells of: the file is a link into another folder, and its size and time stay', async () => {
    const target = join(makeFolder(), 'target');
    writeFileSync(target, 'aaaa');
    symlinkSync(target, path);
    const file = await follow();
    await file.told('aaaa');
    for (const spec of ['bbbb', 'cccc', 'dddd']) {
      const writer = await open(target, 'r+');
      const { atime, mtime } = await writer.stat();
      await writer.write(spec, 0);
      await writer.utimes(atime, mtime);
      await writer.close();
      await file.told(spec);
    }
  });

  it('tells nothing after its end, and begins again', async () => {
    writeFileSync(path, 'orders');
    const file = await follow();
    await file.told('orders');
    file.stop();
    swapIn(path, 'stock');
    await appendFile(path, ',payment');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(file.specs).toEqual(['orders']);
    const again = await follow();
    await again.told('stock,payment');
  });

  it('is one source for one path', () => {
    expect(fileSpecSource('a/../spec')).toBe(fileSpecSource('spec'));
    expect(fileSpecSource('/etc/spec').name).toBe('file:/etc/spec');
    for (const bad of ['', ' ', undefined, null, 7, {}, new URL('file:///etc/spec')]) {
      expect(() => fileSpecSource(bad as string)).toThrow(/path must be the path of a file, not /);
    }
  });
});
