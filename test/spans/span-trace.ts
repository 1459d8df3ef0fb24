import { join } from 'node:path';
import { readSpans } from '../../src/spans/index.js';
import type { ReadSpansOptions } from '../../src/spans/read/read-spans.js';
import type { SpanRecord } from '../../src/spans/span-record.js';
import { configure, shutdown } from '../../src/spans/recording.js';
import type { SpanOptions } from '../../src/spans/recording.js';

/** All spans at a path. */
export async function allSpans(
  path: string | string[],
  options?: ReadSpansOptions,
): Promise<SpanRecord[]> {
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(path, options)) spans.push(span);
  return spans;
}

let traces = 0;

/** The spans that `record` leaves in a trace of its own. */
export async function recorded(
  directory: string,
  record: (path: string) => unknown,
  options: SpanOptions = {},
): Promise<SpanRecord[]> {
  const path = join(directory, `${++traces}.heph`);
  configure({ target: path, ...options });
  try {
    await record(path);
  } finally {
    await shutdown();
  }
  return allSpans(path);
}
