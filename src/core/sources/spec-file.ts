import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A spec has at most 100,000 characters, of at most four bytes each. */
const MAX_BYTES = 400_000;

/** Opening a pipe without a writer would block. Windows has no such flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Control characters other than tabs and line breaks. A file on a failed disk may hold zeros. */
const CONTROL = /(?![\t-\r])\p{Cc}/u;

/** The result of one look at a file: a spec, or the reason why there is none. */
export interface SpecFile {
  /** The identity of the file, because a path or a link may lead to another one each time. Undefined if none could be opened. */
  readonly id: string | undefined;
  readonly spec: string | undefined;
  readonly problem: string | undefined;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist, or is a link that leads nowhere',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this process',
  EPERM: 'may not be read by this process',
  EISDIR: 'is a folder',
  ELOOP: 'is a link that leads to itself',
  EMFILE: 'cannot be opened, since this process has too many files open',
};

/**
 * Reads a file that holds a spec: UTF-8, at most 400,000 bytes; line breaks separate entries as commas do, and a line that begins
 * with `#` is a comment. Nothing of the file is quoted. Never rejects.
 */
export async function readSpecFile(path: string): Promise<SpecFile> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, FLAGS);
    return await readOpened(handle);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = PROBLEMS[code ?? ''] ?? `cannot be read (${code ?? message})`;
    return { id: undefined, spec: undefined, problem };
  } finally {
    await handle?.close().catch(() => undefined);
  }
}

async function readOpened(handle: FileHandle): Promise<SpecFile> {
  const stats = await handle.stat({ bigint: true });
  const id = `${stats.dev}:${stats.ino}`;
  const bad = (problem: string): SpecFile => ({ id, spec: undefined, problem });
  if (!stats.isFile()) return bad(stats.isDirectory() ? 'is a folder' : 'is a device, a pipe or a socket');
  if (stats.size > MAX_BYTES) return bad(`has ${stats.size} bytes; at most ${MAX_BYTES} are allowed`);
  const size = Number(stats.size);
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(size + 1), 0, size + 1, 0);
  if (bytesRead !== size) return bad('is being written');
  const text = decode(buffer.subarray(0, size));
  if (text === undefined) return bad('is not UTF-8');
  if (CONTROL.test(text)) return bad('has control characters');
  const lines = text.split(/\r\n?|\n/).map((line) => line.replace(/^[\s,]+|[\s,]+$/g, ''));
  const spec = lines.filter((line) => line !== '' && !line.startsWith('#')).join(',');
  return spec === ''
    ? bad("is empty; to turn everything off, write '-all'")
    : { id, spec, problem: undefined };
}

/** The text without a byte order mark; undefined if it isn't UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
