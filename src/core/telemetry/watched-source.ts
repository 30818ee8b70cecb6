import { fileSpecSource } from '../sources/file-spec-source.js';
import { SpecWatch } from '../sources/spec-watch.js';
import { type NestLensConfig, originOf } from './config.js';
import type { SetupOptions } from './setup-options.js';

/** Begins to watch the source of the spec: that of the options, else the file in the configuration. */
export function watchSource(config: NestLensConfig, { specSource }: SetupOptions): SpecWatch | undefined {
  if (specSource !== undefined) return new SpecWatch(specSource);
  const path = config.spanGroupsFile?.trim();
  if (!path) return undefined;
  const source = fileSpecSource(path);
  const origin = originOf(config, 'spanGroupsFile');
  return new SpecWatch(source, origin === 'options' ? source.name : origin);
}
