import { closeSync } from 'node:fs';
import { refuse } from '../../core/fault.js';
import { openRegularFile, seenSize } from '../../core/files/regular-file.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import { pidInRun } from '../../heph/file-names.js';
import { PacketCursor } from '../../heph/read/packet-cursor.js';
import type {
  AttributeReader,
  PartTrack,
  ReadBatch,
  RowCounter,
  RowOptions,
  RowProcess,
  RowReading,
  RowRecord,
  RowTrack,
} from '../../rows/row-batch.js';
import { TraceTable } from '../../rows/id-table.js';
import { RowColumns } from '../../rows/row-columns.js';
import { processIdOf, nameOfStream, threadName } from './resource-facts.js';
import { HephScan } from './scan/heph-scan.js';
import { HephWalk } from './scan/heph-walk.js';
import { TraceClock } from './trace-clock.js';
import { SpanSource } from './span-source.js';

/** The process of a trace that does not name its own. */
const DEFAULT_PID = 1;
/** Records of a batch that are no rows: they are read when it is complete. */
const MOST_NOTES = 1 << 12;

/**
 * The spans and the other events of a Heph file as rows. A record says all of its span. What violates the format or
 * the contract is handed to `onFault`, here or when the record is read.
 */
export function readRows(path: string, options: RowOptions): RowReading {
  return { batches: () => batches(path, options) };
}

function* batches(path: string, options: RowOptions): Generator<ReadBatch, void> {
  const { zero, batchRows, onProgress, onFault } = options;
  const file = wrapSystemError('path', path, () => openRegularFile(path, 'followed'));
  const size = seenSize(file);
  const reading = new FileRows(path, options);
  try {
    const walk = new HephWalk(file, 0, size);
    const clock = new TraceClock();
    const rows = new RowColumns(batchRows);
    const traces = new TraceTable();
    let scan: HephScan | undefined;
    let from = 0;
    for (let records = walk.next(); records !== undefined; records = walk.next()) {
      if (records.passedOver > 0) {
        if (scan !== undefined) yield reading.batch(scan, from, clock.state.first);
        scan = undefined;
        refuse(onFault, path, headFault(path, records.offset - records.passedOver));
      }
      if (scan === undefined) {
        from = records.offset;
        rows.clear(batchRows);
        traces.clear();
        scan = new HephScan(clock, from, rows, { zero, hashes: false, traces });
      }
      scan.take(records.bytes, records.view, records.from, records.to, records.offset);
      onProgress?.(walk.offset, size);
      if (scan.rows.count < batchRows && scan.notes.length < MOST_NOTES) continue;
      yield reading.batch(scan, from, clock.state.first);
      scan = undefined;
    }
    if (scan !== undefined) yield reading.batch(scan, from, clock.state.first);
    if (walk.ended !== 'end') refuse(onFault, path, headFault(path, walk.offset));
  } finally {
    closeSync(file.fd);
    reading.close();
  }
}

/** The fault of an offset where no whole packet lies. */
function headFault(path: string, since: number): unknown {
  const cursor = new PacketCursor(path, { since });
  try {
    cursor.next();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    cursor.close();
  }
}

/** The records of a file, which stays open for the next batch. */
class SharedRecords implements AttributeReader {
  readonly #records: SpanSource;

  constructor(records: SpanSource) {
    this.#records = records;
  }

  get size(): number {
    return this.#records.size;
  }

  at(offset: number): RowRecord {
    return this.#records.at(offset);
  }

  close(): void {
    return undefined;
  }
}

/** The batches of one file, with what they share. */
class FileRows {
  readonly #path: string;
  readonly #options: RowOptions;
  readonly #tracks = new Map<number, RowTrack>();
  readonly #notes: number[] = [];
  #records: SpanSource | undefined;
  #process: RowProcess | undefined;
  #faults = 0;

  constructor(path: string, options: RowOptions) {
    this.#path = path;
    this.#options = options;
  }

  batch(scan: HephScan, from: number, epoch: bigint | undefined): ReadBatch {
    const records = (this.#records ??= new SpanSource(this.#path, epoch ?? 0n, this.#notes));
    for (const note of scan.notes) this.#notes.push(note);
    const { rows, names, traces, counts, notes, faulty, firstFaulty } = scan;
    const process = (this.#process ??= this.#processOf(records));
    for (const fault of records.faults.slice(this.#faults)) this.#refuse(fault);
    this.#faults = records.faults.length;
    for (const offset of scan.unread) {
      try {
        records.at(offset);
      } catch (error) {
        this.#refuse(error);
      }
    }
    return {
      ...{ rows, names, traces, counts, notes, faulty, firstFaulty, from },
      tracks: scan.tracks.map((track) => this.#trackOf(track, process, records)),
      counters: records.curvesOf(notes).map((curve) => this.#counterOf(curve, process, records)),
      openAttributes: () => new SharedRecords(records),
    };
  }

  close(): void {
    this.#records?.close();
  }

  #refuse(error: unknown): void {
    refuse(this.#options.onFault, this.#path, error);
  }

  #processOf({ resource }: SpanSource): RowProcess {
    const pid = processIdOf(resource) ?? pidInRun(this.#path) ?? DEFAULT_PID;
    const service = resource?.attributes['service.name'];
    return { pid, name: typeof service === 'string' ? service : `Heph ${this.#path}` };
  }

  #trackOf(of: PartTrack, process: RowProcess, { resource }: SpanSource): RowTrack {
    const { kind, thread } = of;
    let track = this.#tracks.get(thread);
    if (track === undefined) {
      const name = threadName(of, resource);
      // Stream 0 is the main thread, also for viewers: its number is that of the process.
      const tid = thread === 0 ? process.pid : thread;
      track = { kind, name, thread, process, tid, label: name };
      this.#tracks.set(thread, track);
    }
    return track;
  }

  #counterOf(curve: RowCounter, process: RowProcess, { resource }: SpanSource): RowCounter {
    const { name, thread, times } = curve;
    const zero = Number(this.#options.zero);
    const label = `${name} (${threadName({ name: nameOfStream(thread), thread }, resource)})`;
    return { ...curve, process, label, times: times.map((time) => time - zero) };
  }
}
