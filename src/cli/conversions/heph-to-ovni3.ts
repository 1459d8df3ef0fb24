import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LITTLE } from '../../core/byte-order.js';
import { PRIVATE_FILE } from '../../core/options/file-mode.js';
import { isRequest } from '../../look/index/index-row.js';
import { INSTANT_BIT } from '../../look/index/look-index.js';
import type { IndexPart, LookIndex, Source } from '../../look/index/look-index.js';
import { kindOfSpan } from '../../look/report/names/interruption-kinds.js';
import { loomName, processName, streamFiles } from '../../ovni/file-names.js';
import {
  CLOCK_OFFSET,
  HEADER_BYTES,
  headerOf,
  MAX_LABEL_BYTES,
  PAYLOAD_OFFSET,
  payloadSizeCode,
  STREAM_HEADER_BYTES,
  putStreamHeader,
} from '../../ovni/layout.js';
import { library, models } from '../../ovni/metadata-keys.js';
import {
  COUNTERS,
  IN_FLIGHT,
  IN_FLIGHT_TITLE,
  requestsLabel,
  VIRTUAL_CPU,
} from '../../ovni/requests-mark.js';

/** Types of marks after the number of requests: what keeps a thread from working, then a type for each lane of requests. */
const COLLECTIONS = 1;
const STALLS = 2;
const FIRST_LANE = 3;
/** As many types as the emulator takes in all, with past clocks. */
const MOST_LANES = 60;
/** Names of requests that have a label; further ones share the last. */
const MOST_NAMES = 1000;
const MARK_BYTES = HEADER_BYTES + 12;
const START_BYTES = HEADER_BYTES + 16;

/** A mark from a time to another, in ns since the index's epoch. */
interface Interval {
  type: number;
  value: number;
  start: number;
  end: number;
}

/** Labels of the values of a type, by value minus 1. */
class Labels {
  readonly #values = new Map<string, number>();

  valueOf(name: string): number {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const isFull = this.#values.size === MOST_NAMES;
    const value = isFull ? MOST_NAMES + 1 : this.#values.size + 1;
    this.#values.set(isFull ? 'other' : name, value);
    return value;
  }

  get all(): Record<string, string> {
    return Object.fromEntries(
      [...this.#values].map(([name, value]) => [String(value), shortened(name)]),
    );
  }
}

function shortened(name: string): string {
  const text = name.replaceAll('\0', ' ');
  if (Buffer.byteLength(text) <= MAX_LABEL_BYTES) return text === '' ? '(no name)' : text;
  return Buffer.from(text)
    .subarray(0, MAX_LABEL_BYTES - 3)
    .toString()
    .replace(/\ufffd$/, '');
}

/** One thread's events. */
class Thread {
  readonly source: Source;
  readonly number: number;
  readonly name: string;
  readonly requests: { name: string; start: number; end: number }[] = [];
  readonly intervals: Interval[] = [];
  begin = Infinity;
  end = -Infinity;

  constructor(source: Source, number: number, name: string) {
    this.source = source;
    this.number = number;
    this.name = name;
  }

  extend(begin: number, end: number): void {
    this.begin = Math.min(this.begin, begin);
    this.end = Math.max(this.end, end);
  }
}

/** The labels of all threads: a value means the same in each of them. */
interface AllLabels {
  requests: Labels;
  collections: Labels;
  stalls: Labels;
}

/**
 * Writes the processes of an index as an ovni trace of version 3: threads, and marks of their requests, stalls and
 * garbage collections. Of a thread with more than 60 requests at once only their number is there.
 *
 * @param directory of the trace, which exists and is empty.
 */
export function exportOvni(
  index: LookIndex,
  directory: string,
): { threads: number; events: number } {
  const labels = { requests: new Labels(), collections: new Labels(), stalls: new Labels() };
  const threads = threadsOf(index, labels);
  const first = Math.min(...threads.map(({ begin }) => begin));
  const looms = new Set<string>();
  let events = 0;
  for (const thread of threads) {
    const loom = thread.source.host ?? 'host';
    const pid = pidOf(thread.source);
    // Unique within the process: the main thread has the number of the process.
    const tid = pid + thread.number;
    const lanes = lanesOf(thread, labels.requests);
    const marks = [...inOrder(thread.intervals), ...(lanes ?? [])];
    const counts = countsOf(thread);
    const written = eventsOf(thread, pid, marks, counts, index.epoch, first);
    events += written.count;
    const process = join(directory, loomName(loom), processName(pid));
    const files = streamFiles(process, 3, tid);
    mkdirSync(dirname(files.stream), { recursive: true });
    writeFileSync(files.stream, written.bytes, { mode: PRIVATE_FILE, flag: 'wx' });
    const metadata = metadataOf(thread, { loom, pid, tid }, marks, counts, labels);
    const isFirst = !looms.has(loom);
    looms.add(loom);
    if (isFirst) metadata.ovni['loom_cpus'] = [{ index: 0, phyid: 0 }];
    writeFileSync(files.metadata, `${JSON.stringify(metadata, null, 2)}\n`, {
      mode: PRIVATE_FILE,
      flag: 'wx',
    });
  }
  return { threads: threads.length, events };
}

function pidOf({ pid, number }: Source): number {
  return pid ?? number + 1;
}

function threadsOf(index: LookIndex, labels: AllLabels): Thread[] {
  const threads = new Map<number, Thread>();
  for (const track of index.tracks) {
    const source = index.sources[track.source]!;
    if (track.kind !== 'thread') continue;
    threads.set(track.number, new Thread(source, track.thread, track.name));
  }
  for (const part of index.parts) addPart(index, part, threads, labels);
  for (const thread of threads.values()) {
    const { lived, epoch, clockOffset } = thread.source;
    if (lived === undefined || thread.number !== 0) continue;
    const zero = Number(epoch + clockOffset - index.epoch);
    thread.extend(Math.floor(zero + lived.begin), Math.ceil(zero + lived.end));
  }
  return [...threads.values()].filter(({ begin, end }) => begin <= end);
}

function addPart(
  index: LookIndex,
  part: IndexPart,
  threads: ReadonlyMap<number, Thread>,
  labels: AllLabels,
): void {
  const { track, start, duration, offset, name, names, flags, firstRow, count } = part;
  for (let at = 0; at < count; at++) {
    const thread = threads.get(track[at]!);
    if (thread === undefined || (flags[at]! & INSTANT_BIT) !== 0) continue;
    const begin = Math.round(start[at]! + offset);
    // Times that are equal have no order.
    const end = begin + Math.max(1, Math.round(duration[at]!));
    thread.extend(begin, end);
    const text = names.text(name[at]!);
    const kind = kindOfSpan(text);
    if (kind === 'collection') {
      const value = labels.collections.valueOf(text);
      thread.intervals.push({ type: COLLECTIONS, value, start: begin, end });
    } else if (kind === 'stall') {
      const cause = index.details(firstRow + at)['eventloop.cause'];
      const value = labels.stalls.valueOf(typeof cause === 'string' ? cause : 'unknown');
      thread.intervals.push({ type: STALLS, value, start: begin, end });
    } else if (isRequest(flags[at]!)) {
      thread.requests.push({ name: text, start: begin, end });
    }
  }
}

/** Intervals of which none of a type overlap: where they do, the later one begins later. */
function inOrder(intervals: Interval[]): Interval[] {
  intervals.sort((a, b) => a.start - b.start);
  const ends = new Map<number, number>();
  return intervals.flatMap((each) => {
    const start = Math.max(each.start, ends.get(each.type) ?? -Infinity);
    if (start >= each.end) return [];
    ends.set(each.type, each.end);
    return { ...each, start };
  });
}

/** A type of marks for each lane of requests that do not overlap; undefined: they are too many. */
function lanesOf({ requests }: Thread, labels: Labels): Interval[] | undefined {
  const ends: number[] = [];
  const all: Interval[] = [];
  requests.sort((a, b) => a.start - b.start);
  for (const { name, start, end } of requests) {
    const free = ends.findIndex((each) => each <= start);
    const lane = free === -1 ? ends.length : free;
    if (lane === MOST_LANES) return undefined;
    ends[lane] = end;
    all.push({ type: FIRST_LANE + lane, value: labels.valueOf(name), start, end });
  }
  return all;
}

/** The times at which the number of open requests changes, in order. */
function countsOf({ requests }: Thread): { time: number; count: number }[] {
  const changes = requests.flatMap(({ start, end }) => [
    { time: start, by: 1 },
    { time: end, by: -1 },
  ]);
  changes.sort((a, b) => a.time - b.time || a.by - b.by);
  const counts: { time: number; count: number }[] = [];
  let count = 0;
  for (const [i, { time, by }] of changes.entries()) {
    count += by;
    if (changes[i + 1]?.time !== time) counts.push({ time, count });
  }
  return counts.filter((each, i) => each.count !== (counts[i - 1]?.count ?? 0));
}

/** An event of a mark. `rank` orders those of one time: what ends comes before what begins. */
interface MarkEvent {
  time: number;
  rank: number;
  mcv: 'OM[' | 'OM]' | 'OM=';
  type: number;
  value: number;
}

function eventsOf(
  { begin, end }: Thread,
  pid: number,
  intervals: readonly Interval[],
  counts: readonly { time: number; count: number }[],
  epoch: bigint,
  first: number,
): { bytes: Buffer; count: number } {
  const marks = intervals.flatMap(({ type, value, start, end: to }): MarkEvent[] => [
    { time: start, rank: 1, mcv: 'OM[', type, value },
    { time: to, rank: 0, mcv: 'OM]', type, value },
  ]);
  for (const { time, count } of counts) {
    marks.push({ time, rank: 2, mcv: 'OM=', type: IN_FLIGHT, value: count + 1 });
  }
  marks.sort((a, b) => a.time - b.time || a.rank - b.rank);
  const isLate = begin > first;
  const heads = isLate ? HEADER_BYTES : 0;
  const bytes = Buffer.alloc(
    STREAM_HEADER_BYTES + heads + START_BYTES + marks.length * MARK_BYTES + HEADER_BYTES,
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  putStreamHeader(bytes, LITTLE);
  let at = STREAM_HEADER_BYTES;
  const head = (mcv: string, payload: number, time: number): void => {
    view.setUint32(at, headerOf(payloadSizeCode(payload), mcv), true);
    view.setBigUint64(at + CLOCK_OFFSET, epoch + BigInt(Math.floor(time)), LITTLE);
  };
  if (isLate) {
    head('OB.', 0, first);
    at += HEADER_BYTES;
  }
  head('OHx', 16, begin);
  view.setInt32(at + PAYLOAD_OFFSET, VIRTUAL_CPU, LITTLE);
  view.setInt32(at + PAYLOAD_OFFSET + 4, pid, LITTLE);
  at += START_BYTES;
  for (const { time, mcv, type, value } of marks) {
    head(mcv, 12, time);
    view.setBigInt64(at + PAYLOAD_OFFSET, BigInt(value), LITTLE);
    view.setInt32(at + PAYLOAD_OFFSET + 8, type, LITTLE);
    at += MARK_BYTES;
  }
  head('OHe', 0, Math.ceil(end));
  return { bytes, count: marks.length + (isLate ? 3 : 2) };
}

function metadataOf(
  { name }: Thread,
  of: { loom: string; pid: number; tid: number },
  intervals: readonly Interval[],
  counts: readonly { count: number }[],
  labels: AllLabels,
): { version: 3; ovni: Record<string, unknown>; node: Record<string, unknown> } {
  const mark: Record<string, unknown> = {};
  const used = new Set(intervals.map(({ type }) => type));
  const stack = (title: string, own: Labels): Record<string, unknown> => ({
    title,
    chan_type: 'stack',
    labels: own.all,
  });
  for (const type of used) {
    if (type === COLLECTIONS) mark[type] = stack('Garbage collection', labels.collections);
    else if (type === STALLS) mark[type] = stack('Event loop blocked', labels.stalls);
    else mark[type] = stack(`HTTP requests, lane ${type - FIRST_LANE + 1}`, labels.requests);
  }
  if (counts.length > 0) {
    const most = counts.reduce((max, { count }) => Math.max(max, count), 0);
    const texts = Array.from(
      { length: Math.min(most, MOST_NAMES) + 1 },
      (_, n): [string, string] => [String(n + 1), requestsLabel(n)],
    );
    mark[IN_FLIGHT] = {
      title: IN_FLIGHT_TITLE,
      chan_type: 'single',
      labels: Object.fromEntries(texts),
    };
  }
  const ovni = {
    lib: { ...library, epoch: '0' },
    part: 'thread',
    ...{ tid: of.tid, pid: of.pid, loom: of.loom },
    app_id: 1,
    require: { ovni: models.ovni.version },
    mark,
    finished: 1,
  };
  return { version: 3, ovni, node: { thread: name, counters: COUNTERS } };
}
