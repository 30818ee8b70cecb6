import { resolve } from 'node:path';
import { argumentError } from '../diagnostics/argument-error.js';
import { FileWatch } from './file-watch.js';
import type { SpanGroupSpecSource } from './span-group-spec-source.js';

/** One path gives one source, so that NestLens can see that two applications ask for the same. */
const known = new Map<string, SpanGroupSpecSource>();

/**
 * Reads the spec from a file, and follows each change within two seconds: a mounted ConfigMap, a file on a volume, or one
 * that a deployment tool writes. `NEST_LENS_SPAN_GROUPS_FILE` does the same without code.
 *
 * The file is UTF-8. Line breaks separate entries as commas do, and lines that begin with `#` are comments. While the file is
 * missing, empty, unreadable or no spec, the last good spec stays in force, with one warning. With telemetry off, the file
 * isn't read.
 *
 * @param path relative to the working directory at the time of the call
 * @throws TypeError for anything but a string
 *
 * @example
 * ```ts
 * NestLensModule.forRoot({ specSource: fileSpecSource('/etc/nest-lens/span-groups') });
 * ```
 */
export function fileSpecSource(path: string): SpanGroupSpecSource {
  if (typeof path !== 'string' || path.trim() === '')
    throw argumentError('fileSpecSource: path', 'the path of a file', path);
  const full = resolve(path);
  let source = known.get(full);
  if (source === undefined) {
    source = Object.freeze<SpanGroupSpecSource>({
      name: `file:${full}`,
      watch(onSpec, onProblem) {
        const watch = new FileWatch(full, onSpec, onProblem);
        return () => watch.stop();
      },
    });
    known.set(full, source);
  }
  return source;
}
