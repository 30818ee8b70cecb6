import type { SpanGroupSpecSource } from 'nest-lens/core';

type OnSpec = Parameters<SpanGroupSpecSource['watch']>[0];
type OnProblem = NonNullable<Parameters<SpanGroupSpecSource['watch']>[1]>;

/** A source that does what a test says, and notes how it was used. */
export class ScriptedSource implements SpanGroupSpecSource {
  watched = 0;
  stopped = 0;
  /** Those of the last call of `watch`. */
  onSpec!: OnSpec;
  onProblem!: OnProblem;

  /**
   * @param begin what a call of `watch` does besides; what it returns, if anything, is what `watch` returns
   */
  constructor(
    private readonly begin: (source: ScriptedSource) => unknown = () => undefined,
    readonly name = 'script',
  ) {}

  watch(onSpec: OnSpec, onProblem?: OnProblem): () => void {
    this.watched++;
    this.onSpec = onSpec;
    this.onProblem = onProblem!;
    const returned = this.begin(this);
    return (returned === undefined ? () => void this.stopped++ : returned) as () => void;
  }

  /** Calls back with whatever it is, as JavaScript may. */
  say(spec: unknown): void {
    this.onSpec(spec as string | undefined);
  }
}
