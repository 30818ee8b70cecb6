import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readSpecFile, type SpecFile } from './spec-file.js';

/** How often the file is read, in milliseconds. NFS and some bind mounts tell nobody of changes. */
const POLL_MS = 500;
/** What is written in place counts when it has stayed the same for so long, in milliseconds; before, it may be half of it. */
const SETTLE_MS = 200;
/** Events come in bursts; this long after the first one the file is read, in milliseconds. */
const EVENT_MS = 20;

/**
 * Follows one file. It is read every half second, and when its folder tells of a change. Contents are compared, not times: those
 * of some mounts are as coarse as two seconds. Measured: less than 2 ms of CPU time a second. Nothing in here keeps the process alive, and nothing but `fs.watch` is synchronous.
 */
export class FileWatch {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dueAt = Infinity;
  private isReading = false;
  /** Whether something has changed while the file was read, and so perhaps after it. */
  private isToBeReadAgain = false;
  private isStopped = false;
  private folder: FSWatcher | undefined;
  /** What the last look has found, and since when it is so. */
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

  /** Looks by then at the latest. */
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
    // Later than the first look: on a mount that hangs, this call would hold up the process.
    if (this.seen === undefined) this.listen();
    const nextMs = this.judge(found);
    this.lookWithin(this.isToBeReadAgain ? EVENT_MS : nextMs);
  }

  /** Tells what was found, unless it may be a change that isn't complete. Returns when to look again. */
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

  /** The folder, since a ConfigMap changes by a link in it. What another folder holds is found by reading alone. */
  private listen(): void {
    const name = basename(this.path);
    const listener = (_event: string, file: string | null): void => {
      if (file === null || file === name || file.startsWith('..')) this.lookWithin(EVENT_MS);
    };
    try {
      this.folder = watch(dirname(this.path), { persistent: false }, listener);
      this.folder.on('error', () => this.folder?.close());
    } catch {
      // No such folder, or the machine has no watches left: reading every half second is enough.
    }
  }
}

function isSame(a: SpecFile, b: SpecFile): boolean {
  return a.spec === b.spec && a.problem === b.problem;
}

/** Whether a file that is good took the place of another one, which happens at once: nobody is writing it. */
function isSwappedIn(found: SpecFile, before: SpecFile | undefined): boolean {
  return found.spec !== undefined && before?.id !== undefined && before.id !== found.id;
}
