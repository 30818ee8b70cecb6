import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ShopProcess, type ShopProcessOptions, startShop } from './shop-process.js';
import { makeFolder } from './spec-file.js';

export interface WrittenSpan {
  name: string;
  attributes: Record<string, unknown>;
}

export interface ShopWithFile {
  process: ShopProcess;
  written(): WrittenSpan[];
  names(): string[];
}

/** A shop that exports to a file, through the batch processor of the SDK; nothing is exported before the process ends. */
export function shopWithFile(
  shop: Record<string, unknown> = {},
  options: ShopProcessOptions = {},
): ShopWithFile {
  const spansFile = join(makeFolder(), 'spans.jsonl');
  const written = (): WrittenSpan[] =>
    readFileSync(spansFile, { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as WrittenSpan);
  return {
    process: startShop({
      ...options,
      shop: { spansFile, ...shop },
      env: { OTEL_BSP_SCHEDULE_DELAY: '600000', ...options.env },
    }),
    written,
    names: () => written().map(({ name }) => name),
  };
}
