import type { RowTest } from '../../condition/span-condition.js';
import type { PartTrack, RowCounter, RowProcess, RowTrack } from '../../../rows/row-batch.js';
import type { RowBuilder } from '../../../rows/row-builder.js';
import { INSTANT_BIT, NO_RECORD } from '../../../rows/row-flags.js';
import { runOf } from '../../../traces/run-directory.js';
import type { Placement } from '../../../traces/time-line.js';
import type { JobOptions } from '../../../traces/trace-format.js';
import { EXPORTED_ROWS } from '../export-options.js';
import type { Picture, PictureProcess, PictureThread } from './picture.js';
import { INSTANT, SLICE_BEGIN } from './schema.js';

const INSTANT_CATEGORY = 'event';
const NO_VALUES: Readonly<Record<string, unknown>> = {};
/** The high half of the number of a message, so that none is 0, and none is that of a span. */
const FLOW_HIGH = 1 << 30;

/** Draws the rows of a trace: its processes, their threads, and curves. */
class RowPicture {
  readonly #picture: Picture;
  readonly #placement: Placement;
  readonly #accepts: RowTest;
  readonly #processes = new Map<RowProcess, PictureProcess>();
  readonly #threads = new Map<PartTrack, PictureThread>();

  constructor(picture: Picture, placement: Placement, accepts: RowTest) {
    this.#picture = picture;
    this.#placement = placement;
    this.#accepts = accepts;
  }

  /** @param flowsOf the messages of a row. */
  *draw(batch: RowBuilder, flowsOf: (row: number) => readonly number[]): Generator<Buffer, void> {
    const { rows, tracks, from } = batch;
    const { writer } = this.#picture;
    const texts = batch.names.texts();
    const attributes = batch.openAttributes();
    const valuesOf = (row: number): Record<string, unknown> =>
      rows.place[row] === NO_RECORD ? NO_VALUES : attributes.at(from + rows.place[row]!);
    try {
      for (let row = 0; row < rows.count; row++) {
        const start = rows.start[row]!;
        const end = start + rows.duration[row]!;
        const name = texts[rows.name[row]!]!;
        if (!this.#accepts(start, end, name, () => valuesOf(row))) continue;
        const thread = this.#thread(tracks[rows.track[row]!]!);
        const { kind } = tracks[rows.track[row]!]!;
        // An instant lies on a slice of the thread, if there is one.
        const isInstant = (rows.flags[row]! & INSTANT_BIT) !== 0;
        const track = isInstant ? thread.track : thread.place(start, end);
        const category = isInstant ? INSTANT_CATEGORY : kind;
        const type = isInstant ? INSTANT : SLICE_BEGIN;
        writer.beginEvent(type, track, start, name, category);
        for (const flow of flowsOf(row)) writer.flow(FLOW_HIGH, flow);
        const values = valuesOf(row);
        for (const each in values) writer.annotate(each, values[each]);
        writer.endEvent();
        if (!isInstant) writer.endSlice(track, end);
        if (writer.isFull) yield writer.take();
      }
    } finally {
      attributes.close();
    }
    for (const counter of batch.counters) this.#curve(counter);
  }

  #curve({ process, name, unit, times, values }: RowCounter): void {
    const track = this.#process(process!).counter(name, unit === '' ? 'count' : unit);
    for (const [i, time] of times.entries()) {
      if (this.#accepts(time, time, name, () => NO_VALUES))
        this.#picture.writer.counter(track, time, values[i]!);
    }
  }

  #process(own: RowProcess): PictureProcess {
    let process = this.#processes.get(own);
    if (process === undefined) {
      const { trace, label } = this.#placement;
      const key = `${own.pid} ${runOf(trace.path) ?? trace.path} ${own.name}`;
      process = this.#picture.process(key, own.pid, own.name, label === undefined ? [] : [label]);
      this.#processes.set(own, process);
    }
    return process;
  }

  #thread(own: RowTrack): PictureThread {
    let thread = this.#threads.get(own);
    if (thread === undefined) {
      const { process, tid, label = `thread ${tid}` } = own;
      // Pieces of a trace have the same threads under the same names.
      const key = `${this.#placement.trace.format.name} ${tid} ${label}`;
      thread = this.#process(process).thread(key, tid, label);
      this.#threads.set(own, thread);
    }
    return thread;
  }
}

const NO_FLOWS: readonly number[] = [];

/**
 * Draws the rows of a trace. A message connects the row that sends with the one that receives.
 *
 * @param accepts whether a row is drawn; times are those since the zero of the picture.
 * @param isCut whether `accepts` may refuse rows: a message could have one end then, so none is drawn.
 */
export function* drawRows(
  picture: Picture,
  placement: Placement,
  accepts: RowTest,
  isCut: boolean,
  { onProgress, onFault }: JobOptions,
): Generator<Buffer, void> {
  const { trace, shift } = placement;
  const read = { zero: -shift, batchRows: EXPORTED_ROWS };
  const drawing = new RowPicture(picture, placement, accepts);
  const reading = trace.format.rows!(trace.path, { ...read, onProgress, onFault });
  const flows = isCut || reading.flows === undefined ? undefined : flowsOf(trace, read);
  let number = 0;
  for (const batch of reading.batches()) {
    const own = number++;
    yield* drawing.draw(batch, (row) => flows?.get(keyOf(own, row)) ?? NO_FLOWS);
  }
}

/** The messages of each row. */
function flowsOf(
  { format, path }: Placement['trace'],
  options: { zero: bigint; batchRows: number },
): Map<number, number[]> {
  const flows = new Map<number, number[]>();
  // Faults are reported when the rows are drawn.
  const reading = format.rows!(path, { ...options, onFault: () => undefined });
  for (const batch of reading.batches()) if (batch.rows.count < 0) break;
  const add = (key: number, flow: number): void => {
    const known = flows.get(key);
    if (known === undefined) flows.set(key, [flow]);
    else known.push(flow);
  };
  for (const [flow, { fromBatch, fromRow, toBatch, toRow }] of reading.flows!.entries()) {
    add(keyOf(fromBatch, fromRow), flow);
    add(keyOf(toBatch, toRow), flow);
  }
  return flows;
}

function keyOf(batch: number, row: number): number {
  return batch * EXPORTED_ROWS + row;
}
