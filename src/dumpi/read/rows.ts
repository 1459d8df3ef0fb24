import { untilFault } from '../../core/fault.js';
import type { OnFault } from '../../core/fault.js';
import { readSections } from './section-reader.js';
import { RowBuilder } from '../../rows/row-builder.js';
import type {
  AttributeReader,
  RowFlow,
  RowOptions,
  RowProcess,
  RowReading,
  RowTrack,
} from '../../rows/row-batch.js';
import { callObject, nanosecondsOf } from './dump.js';
import { ReadDatatypeSizes } from './read-datatype-sizes.js';
import { CallCursor } from './reader.js';
import type { CallRecord } from './call-record.js';
import { callFilesOf, existingRankFiles, isMetafile } from './run.js';
import { RunMessages } from './run-messages.js';
import type { Sections } from './section-reader.js';

/** The files of a run end with their rank. */
const RANK_IN_NAME = /-(\d{4,10})\.bin$/;
/** Process ids begin with 1. */
const FIRST_PID = 1;
/** Larger ones are no ranks: viewers have process ids of 32 bits. */
const MAX_RANK = 2 ** 30;
/** Traced functions of a thread that are open at once. */
const MAX_OPEN = 512;

/** A traced function that has begun. */
interface OpenFunction {
  address: bigint;
  begin: bigint;
}

/**
 * The rows of a rank's file, or of those that a metafile names: each rank is a process with its calls and traced
 * functions. Times are those of the wall clock, or of the CPU time where a call has no other; calls without
 * times are no rows. A function that is left out of order ends all functions above it; what is open at the end
 * ends with the last call. The messages of a run connect the call that sends with the one that receives or waits.
 *
 * @throws TraceFormatError where a file is not as the format says, unless there is `onFault`. The rows before
 *   the fault have been yielded.
 */
export function readRows(path: string, options: RowOptions): RowReading {
  const { onFault, onProgress } = options;
  // A rank's own file has no other end.
  const messages = isMetafile(path) ? new RunMessages(existingRankFiles(path).length) : undefined;
  const reading = { batches, flows: [] as readonly RowFlow[] };
  const noteFault: OnFault | undefined =
    onFault &&
    ((fault) => {
      messages?.giveUp();
      onFault(fault);
    });
  let count = 0;

  function* batches(): Generator<RowBuilder, void> {
    let rank = 0;
    for (const file of untilFault(onFault, path, () => callFilesOf(path))) {
      messages?.begin(rank++);
      for (const batch of untilFault(noteFault, file, () => ofRank(file))) {
        count++;
        yield batch;
      }
    }
    reading.flows = messages?.whole() ?? [];
  }

  function* ofRank(file: string): Generator<RowBuilder, void> {
    const sections = readSections(file, { onProgress });
    const cursor = CallCursor.ofTrace(sections, { onProgress });
    const sizes = new ReadDatatypeSizes(sections);
    const newBatch = (offset: number): RowBuilder =>
      new RowBuilder(options, offset, () => callFields(sections));
    const calls = new RankRows(file, sections);
    let batch = newBatch(0);
    let fault: { error: unknown } | undefined;
    try {
      for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
        if (batch.isFull) {
          yield batch;
          batch = newBatch(call.offset);
        }
        const row = calls.add(batch, call);
        if (messages === undefined) continue;
        sizes.call(call);
        if (row === undefined) messages.untimed(call);
        else if (row >= 0) {
          const start = batch.rows.start[row]!;
          const end = start + batch.rows.duration[row]!;
          messages.call(call, sizes, count, row, start, end);
        }
      }
    } catch (error) {
      fault = { error };
    } finally {
      cursor.close();
    }
    calls.end(batch);
    yield batch;
    if (fault !== undefined) throw fault.error;
  }

  return reading;
}

/** Makes a reader of the arguments that only a call's record has. */
function callFields(sections: Sections): AttributeReader {
  const cursor = CallCursor.ofTrace(sections);
  return {
    at(offset) {
      cursor.seek(offset);
      const call = cursor.next();
      const fields = call === undefined ? {} : callObject(call)['fields'];
      return { attributes: fields as Record<string, unknown> };
    },
    close: () => {
      cursor.close();
    },
  };
}

/** The calls of one rank as rows. */
class RankRows {
  readonly #process: RowProcess;
  readonly #rank: number;
  readonly #functionNames: ReadonlyMap<bigint, string>;
  readonly #tracks = new Map<number, RowTrack>();
  readonly #open = new Map<number, OpenFunction[]>();
  #last = 0n;

  constructor(file: string, { functionNames }: Sections) {
    const named = RANK_IN_NAME.exec(file)?.[1];
    const rank = Number(named ?? 0);
    this.#rank = rank < MAX_RANK ? rank : 0;
    const name = named === undefined ? `DUMPI ${file}` : `MPI rank ${this.#rank}`;
    this.#process = { pid: FIRST_PID + this.#rank, name };
    this.#functionNames = new Map(functionNames.map(({ address, name: text }) => [address, text]));
  }

  /** Returns the row of a call; -1: it begins or ends a function. Undefined: it has no times. */
  add(batch: RowBuilder, call: CallRecord): number | undefined {
    const times = call.wall ?? call.cpu;
    if (times === undefined) return undefined;
    const start = nanosecondsOf(times.start);
    const stop = nanosecondsOf(times.stop);
    const end = stop > start ? stop : start;
    if (end > this.#last) this.#last = end;
    const thread = call.thread ?? 0;
    if (call.name === 'Function_enter') {
      const open = this.#openOf(thread);
      if (open.length < MAX_OPEN) open.push({ address: call.fields.fn, begin: start });
      return -1;
    }
    if (call.name === 'Function_exit') {
      const address = call.fields.fn;
      const open = this.#openOf(thread);
      const at = open.findLastIndex((each) => each.address === address);
      if (at !== -1) this.#endFunctions(batch, thread, open, at, end);
      return -1;
    }
    return batch.add(this.#track(thread), call.name, start, end, call.offset);
  }

  /** Ends what is open. */
  end(batch: RowBuilder): void {
    for (const [thread, open] of this.#open) {
      this.#endFunctions(batch, thread, open, 0, this.#last);
    }
  }

  #endFunctions(
    batch: RowBuilder,
    thread: number,
    open: OpenFunction[],
    from: number,
    end: bigint,
  ): void {
    for (const { address, begin } of open.splice(from).reverse()) {
      const name = this.#functionNames.get(address) ?? `0x${address.toString(16)}`;
      batch.add(this.#track(thread), name, begin, end);
    }
  }

  #openOf(thread: number): OpenFunction[] {
    let open = this.#open.get(thread);
    if (open === undefined) this.#open.set(thread, (open = []));
    return open;
  }

  #track(thread: number): RowTrack {
    let track = this.#tracks.get(thread);
    if (track === undefined) {
      const process = this.#process;
      const name = thread === 0 ? process.name : `${process.name}, thread ${thread}`;
      const label = thread === 0 ? 'main' : `thread ${thread}`;
      track = { kind: 'rank', name, thread: this.#rank, process, tid: thread, label };
      this.#tracks.set(thread, track);
    }
    return track;
  }
}
