import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readSpecFile, type SpecFile } from './spec-file.js';

/** The file is read this often, in milliseconds, because NFS and some bind mounts give no events. */
const POLL_MS = 500;
/**
 * Content that is written in place counts when it has stayed the same for this long, in milliseconds. Earlier it may be half
 * written.
 */
const SETTLE_MS = 200;
/** Events come in bursts. The file is read this long after the first one, in milliseconds. */
const EVENT_MS = 20;

/**
 * Follows one file. It reads the file every half second, and on events of its folder. It compares contents, not times,
 * because some mounts keep times to two seconds. Measured: less than 2 ms of CPU time a second. Nothing in here keeps the
 * process alive, and only `fs.watch` is synchronous.
 */
export class FileWatch {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dueAt = Infinity;
  private isReading = false;
  /** Whether an event came while the file was read, so that it may have changed afterwards. */
  private isToBeReadAgain = false;
  private isStopped = false;
  private folder: FSWatcher | undefined;
  /** The result of the last look, and the time since when it is the same. */
  private seen: SpecFile | undefined;
  private since = 0;
  /** What was told last. */
  private told: SpecFile | undefined;

  constructor(
    private readonly path: string,
    private readonly onSpec: (spec: string) => void,
    private readonly onProblem: (problem: string) => void = () => undefined,
  ) {
    void this.look();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.folder?.close();
  }

  /** Looks again within this time. */
  private lookWithin(delayMs: number): void {
    const dueAt = performance.now() + delayMs;
    if (this.isReading) this.isToBeReadAgain = true;
    if (this.isStopped || this.isReading || dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => void this.look(), delayMs).unref();
  }

  private async look(): Promise<void> {
    this.dueAt = Infinity;
    this.isReading = true;
    this.isToBeReadAgain = false;
    const found = await readSpecFile(this.path);
    this.isReading = false;
    if (this.isStopped) return;
    // It listens after the first look, because on a mount that hangs this call would block the process.
    if (this.seen === undefined) this.listen();
    const nextMs = this.judge(found);
    this.lookWithin(this.isToBeReadAgain ? EVENT_MS : nextMs);
  }

  /** Passes the result on, unless it may be an unfinished change. Returns when to look again. */
  private judge(found: SpecFile): number {
    const { seen, told } = this;
    const now = performance.now();
    if (seen === undefined || !isSame(found, seen)) this.since = now;
    this.seen = found;
    if (told !== undefined && isSame(found, told)) return POLL_MS;
    const leftMs = this.since + SETTLE_MS - now;
    if (told !== undefined && !isSwappedIn(found, seen) && leftMs > 0) return leftMs;
    this.told = found;
    if (found.spec === undefined) this.onProblem(`the file ${found.problem}`);
    else this.onSpec(found.spec);
    return POLL_MS;
  }

  /**
   * It watches the folder, because a ConfigMap changes by a link in it. Changes behind links to other folders are found by
   * reading.
   */
  private listen(): void {
    const name = basename(this.path);
    const listener = (_event: string, file: string | null): void => {
      if (file === null || file === name || file.startsWith('..')) this.lookWithin(EVENT_MS);
    };
    try {
      this.folder = watch(dirname(this.path), { persistent: false }, listener);
      this.folder.on('error', () => this.folder?.close());
    } catch {
      // The folder is missing, or the machine has no watches left. Reading every half second is enough.
    }
  }
}

function isSame(a: SpecFile, b: SpecFile): boolean {
  return a.spec === b.spec && a.problem === b.problem;
}

/** Whether a good file replaced another one. A replacement is complete at once, because nobody writes into it. */
function isSwappedIn(found: SpecFile, before: SpecFile | undefined): boolean {
  return found.spec !== undefined && before?.id !== undefined && before.id !== found.id;
}
