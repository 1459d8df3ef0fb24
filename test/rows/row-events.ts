import type { ChromeEvent } from '../../src/core/chrome-event.js';
import { RowEvents } from '../../src/look/export/chrome/row-events.js';
import type { RowOptions } from '../../src/rows/row-batch.js';
import type { RowReading } from '../../src/rows/row-builder.js';

/** The rows of a trace as Chrome's events, in microseconds of the trace's own clock. */
export function* rowEvents(
  read: (path: string, options: RowOptions) => RowReading,
  path: string,
  options: Partial<RowOptions> = {},
): Generator<ChromeEvent, void> {
  yield* new RowEvents().of(read(path, { zero: 0n, batchRows: 1 << 14, ...options }));
}
