import { addToList } from '../../core/map-entries.js';
import { refuse } from '../../core/fault.js';
import type {
  PartTrack,
  ReadBatch,
  RowCounter,
  RowProcess,
  RowTrack,
} from '../../rows/row-batch.js';
import { runOf } from '../../traces/run-directory.js';
import type { Placement } from '../../traces/time-line.js';
import type { JobOptions } from '../../rows/trace-format.js';
import { EXPORTED_ROWS } from '../selection.js';
import { RowCursor } from '../row-cursor.js';
import type { RowFilter } from '../row-cursor.js';
import type { PictureTime } from '../perfetto/packet-writer.js';
import type { Picture, PictureProcess, PictureThread } from './picture.js';
import type { GroupedSpans } from './span-groups.js';

const INSTANT_CATEGORY = 'event';
/** The high half of the number of a message, so that none is 0, and none is that of a span. */
const FLOW_HIGH = 1 << 30;
const NO_FLOWS: readonly number[] = [];

/** Names and packets that all rows are drawn with. */
interface RowDrawing {
  picture: Picture;
  spans: GroupedSpans;
  /** Which rows are drawn. */
  accepts: RowFilter;
}

/** Draws the rows of a trace: its processes, their threads, and curves. */
class RowPicture {
  readonly #drawing: RowDrawing;
  readonly #placement: Placement;
  readonly #zero: bigint;
  readonly #onFault: JobOptions['onFault'];
  readonly #processes = new Map<RowProcess, PictureProcess>();
  readonly #threads = new Map<PartTrack, PictureThread>();

  constructor(
    drawing: RowDrawing,
    placement: Placement,
    zero: bigint,
    onFault: JobOptions['onFault'],
  ) {
    this.#drawing = drawing;
    this.#placement = placement;
    this.#zero = zero;
    this.#onFault = onFault;
  }

  /** @param flowsOf the messages of a row. */
  *draw(batch: ReadBatch, flowsOf: (row: number) => readonly number[]): Generator<Buffer, void> {
    const { packets } = this.#drawing.picture;
    const cursor = new RowCursor(batch, this.#zero);
    try {
      while (cursor.next()) {
        try {
          this.#row(cursor, flowsOf);
        } catch (error) {
          refuse(this.#onFault, this.#placement.trace.path, error);
        }
        if (packets.isFull) yield packets.take();
      }
    } finally {
      cursor.close();
    }
    for (const counter of batch.counters) this.#curve(counter);
  }

  /** All rows have been drawn. */
  end(): void {
    if (this.#placement.isAligned) for (const thread of this.#threads.values()) thread.endTrace();
  }

  #row(row: RowCursor, flowsOf: (row: number) => readonly number[]): void {
    const { picture, spans, accepts } = this.#drawing;
    const { packets } = picture;
    // What cannot be read is not drawn.
    const record = row.record();
    if (accepts?.(row) === false) return;
    const thread = this.#thread(row.track);
    if (row.isSpan) {
      spans.add(thread, row.span(), this.#zero, row.size);
      return;
    }
    const { isInstant, name, end } = row;
    const { kind } = row.track;
    const start = kind === 'thread' ? row.start : thread.startOfState(row.start, end);
    // An instant lies on a slice of the thread, if there is one.
    const track = isInstant ? thread.track : thread.laneFor(start, end, record.substream);
    const from = exact(start, () => row.exactStart);
    packets.beginEvent(isInstant, track, from, name, isInstant ? INSTANT_CATEGORY : kind);
    for (const flow of flowsOf(row.row)) packets.flow(FLOW_HIGH, flow);
    for (const each in record.attributes) packets.annotate(each, record.attributes[each]);
    packets.endEvent();
    if (!isInstant)
      packets.endSlice(
        track,
        exact(end, () => row.exactEnd),
      );
  }

  #curve({ process, name, label = name, unit, times, values }: RowCounter): void {
    const { picture, accepts } = this.#drawing;
    if (accepts !== undefined) return;
    const isRatio = unit === 'ratio';
    const shown = isRatio ? '%' : unit === '' ? 'count' : unit;
    const track = this.#process(process!).counter(label, shown);
    for (const [i, time] of times.entries()) {
      picture.packets.counter(track, time, isRatio ? 100 * values[i]! : values[i]!);
    }
  }

  #process(own: RowProcess): PictureProcess {
    let process = this.#processes.get(own);
    if (process === undefined) {
      const { trace, label } = this.#placement;
      const { format, path } = trace;
      const key = `${own.pid} ${runOf(path) ?? format.traceOf?.(path) ?? path}`;
      const labels = label === undefined ? [] : [label];
      process = this.#drawing.picture.process(key, own.pid, own.name, labels);
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

function exact(time: number, ofRow: () => bigint): PictureTime {
  return Number.isSafeInteger(time) ? time : ofRow();
}

/**
 * Draws the rows of a trace. A message connects the row that sends with the one that receives. Spans whose local root
 * has not ended may be drawn later.
 *
 * @param zero the moment that the zero of the picture is: see `RowCursor`.
 */
export function* drawRows(
  drawing: RowDrawing,
  placement: Placement,
  zero: bigint,
  { onProgress, onFault }: JobOptions,
): Generator<Buffer, void> {
  const { trace, shift } = placement;
  const read = { zero: -shift, batchRows: EXPORTED_ROWS };
  const rows = new RowPicture(drawing, placement, zero, onFault);
  const reading = trace.format.rows!(trace.path, { ...read, onProgress, onFault });
  // A message could have one end, if rows are left out.
  const isWhole = drawing.accepts === undefined && reading.flows !== undefined;
  const flows = isWhole ? flowsOf(trace, read) : undefined;
  let number = 0;
  for (const batch of reading.batches()) {
    const own = number++;
    yield* rows.draw(batch, (row) => flows?.get(keyOf(own, row)) ?? NO_FLOWS);
  }
  rows.end();
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
    addToList(flows, key, flow);
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
