import { PassThrough, type Readable } from 'node:stream';
import type { PreviewReport } from './preview-report.js';
import type { PreviewRun } from './preview-run.js';

/** The time between two events, in milliseconds. */
const PROGRESS_MS = 1_000;

/**
 * A preview as server-sent events: `progress` each second, with the counts so far, and `done` at the end.
 */
export function streamPreview(run: PreviewRun): Readable {
  const stream = new PassThrough();
  const send = (event: 'progress' | 'done', report: PreviewReport): void => {
    stream.write(`event: ${event}\ndata: ${JSON.stringify(report)}\n\n`);
  };
  // A comment at the beginning makes the server send the headers, so that proxies see that the answer has begun.
  stream.write(': counting\n\n');
  const timer = setInterval(() => {
    // A client that reads slowly misses some events.
    if (!stream.writableNeedDrain) send('progress', run.report());
  }, PROGRESS_MS).unref();
  void run.done.then((report) => {
    clearInterval(timer);
    send('done', report);
    stream.end();
  });
  return stream;
}
