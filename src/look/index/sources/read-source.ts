import { closeSync } from 'node:fs';
import type { ChromeEvent } from '../../../core/chrome-event.js';
import { counted } from '../../../core/counted.js';
import type { TracewrightError } from '../../../core/errors.js';
import { faultOf, untilFault } from '../../../core/fault.js';
import { openRegularFile } from '../../../core/files/regular-file.js';
import { hasCode } from '../../../core/files/system-error.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import { buildPart } from '../parts/build-part.js';
import type { Stretch } from '../parts/build-stretch.js';
import { ChromeScan } from '../scan/chrome-scan.js';
import type { ReadCounter } from '../scan/chrome-scan.js';
import { HephScan } from '../scan/heph-scan.js';
import { HephWalk } from '../scan/heph-walk.js';
import type { WalkEnd } from '../scan/heph-walk.js';
import type { Loss, Source } from '../look-index.js';
import type { StoredPart } from '../parts/indexed-part.js';
import type { BuiltPart } from '../parts/part-columns.js';
import { readRunMessages } from './run-messages.js';
import type { ReadMessage } from './run-messages.js';
import { joinSource } from './source-joins.js';
import type { SourceJoins } from './source-joins.js';
import { noClock, TraceClock } from '../scan/trace-clock.js';
import type { ClockState } from '../scan/trace-clock.js';

/** Rows of a part, about. */
export const PART_ROWS = 1 << 20;
/** Bytes of a part's records: places in it are u32. */
export const PART_BYTES = 512 << 20;

/** The format of a source by the name of its trace's. */
export function formatOf({ format }: FoundTrace): Source['format'] {
  if (format.name === 'ovni' || format.name === 'Heph' || format.name === 'DUMPI') {
    return format.name;
  }
  return 'Laplace';
}

/** What the index has read of one trace. */
export interface ReadSource {
  trace: FoundTrace;
  parts: StoredPart[];
  /** Of all parts, or of the first ones: those after them are of a trace that grows. */
  joins: SourceJoins;
  /** The same object as long as the file is the same, and what was read of it still holds. */
  reading: object;
  counters: ReadCounter[];
  /** Of a run of DUMPI; read when first asked for. */
  messages?: () => readonly ReadMessage[];
  losses: Loss[];
  /** Of a Heph file: where its next record begins, and what its records have said of times. */
  end: number;
  clock: ClockState;
  /** Why it was not read to its end. */
  ended: WalkEnd;
  /** What rings say of its writer; undefined: nobody has asked them. */
  state?: Source['state'];
  /** Records that lie in no file: see `LivingRows`. */
  records?: ReadonlyMap<number, Buffer>;
}

/** A part that is not stored. @param stretch from which it was built. */
export function inMemory({ facts, columns }: BuiltPart, stretch?: Stretch): StoredPart {
  return { facts, column: (name) => columns[name], ...(stretch && { stretch }) };
}

/** Reads a Heph file into memory, up to `end`. */
export function readHeph(trace: FoundTrace, end: number): ReadSource {
  const { path } = trace;
  const clock = new TraceClock();
  const { fd } = openRegularFile(path, 'followed');
  const parts: StoredPart[] = [];
  try {
    const walk = new HephWalk(fd, 0, end);
    let scan: HephScan | undefined;
    let begin = 0;
    let before = clock.state;
    const finish = (): void => {
      if (scan === undefined) return;
      const { offset: to } = walk;
      const stretch = { path, from: begin, to, records: scan.rows.count, clock: before };
      parts.push(inMemory(buildPart(scan, begin, to), stretch));
      scan = undefined;
    };
    for (let records = walk.next(); records !== undefined; records = walk.next()) {
      if (scan === undefined) {
        begin = records.offset;
        before = clock.state;
        scan = new HephScan(clock, begin);
      }
      scan.take(records.bytes, records.view, records.from, records.to, records.offset);
      if (scan.rows.count >= PART_ROWS || walk.offset - begin >= PART_BYTES) finish();
    }
    finish();
    const losses: Loss[] = [];
    return {
      trace,
      parts,
      joins: joinSource(parts),
      reading: {},
      counters: [],
      losses,
      end: walk.offset,
      clock: clock.state,
      ended: walk.ended,
    };
  } finally {
    closeSync(fd);
  }
}

/** Faults of a source that are said one by one. */
const MOST_FAULTS = 100;

/** A fault as a loss. */
export function unreadable({ message }: TracewrightError): Loss {
  return { count: undefined, reason: message, isUnreadable: true };
}

/** A source of which nothing can be read. */
export function unreadSource(trace: FoundTrace, error: unknown): ReadSource {
  return drawnSource(trace, new ChromeScan(formatOf(trace)), [
    unreadable(faultOf(trace.path, error)),
  ]);
}

/** Reads a trace of another format through what it draws. */
export function readDrawn(trace: FoundTrace, format: Source['format']): ReadSource {
  const scan = new ChromeScan(format);
  const losses: Loss[] = [];
  const onFault = (fault: TracewrightError): void => {
    // A trace that rotates has deleted it.
    if (hasCode(fault, 'ENOENT')) throw fault;
    losses.push(unreadable(fault));
  };
  if (trace.format.notDrawn === undefined) {
    const read = (): Iterable<ChromeEvent> => trace.format.chromeEvents(trace.path, { onFault });
    for (const event of untilFault(onFault, trace.path, read)) scan.add(event);
  } else {
    losses.push({ count: undefined, reason: `${trace.path} ${trace.format.notDrawn}` });
  }
  return drawnSource(trace, scan, losses);
}

function drawnSource(trace: FoundTrace, scan: ChromeScan, losses: Loss[]): ReadSource {
  scan.end();
  const format = formatOf(trace);
  const built = buildPart(scan, 0, 0);
  const parts = [inMemory(built)];
  let messages: ReadMessage[] | undefined;
  return {
    trace,
    parts,
    joins: joinSource(parts),
    reading: {},
    counters: scan.counters,
    ...(format === 'DUMPI' && {
      messages: () => (messages ??= readRunMessages(trace.path, built)),
    }),
    losses: boundedLosses(trace, losses),
    end: 0,
    clock: noClock(),
    ended: 'end',
  };
}

function boundedLosses({ path }: FoundTrace, losses: Loss[]): Loss[] {
  const more = losses.length - MOST_FAULTS;
  if (more <= 0) return losses;
  const reason = `${path}: ${counted(more, 'more fault')}`;
  return [...losses.slice(0, MOST_FAULTS), { count: undefined, reason, isUnreadable: true }];
}
