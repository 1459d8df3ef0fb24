import { decodeFields, double, integer, messages, text } from '../protobuf-fields.js';
import type { Fields } from '../protobuf-fields.js';

/**
 * Reads a trace of Perfetto by the field numbers of its published schema, as its trace processor does:
 * interned texts by packet, events sorted by time, slices by track.
 */

export interface ShownTrack {
  uuid: bigint;
  parent: bigint | undefined;
  name: string | undefined;
  process: { pid: bigint; name: string; labels: string | undefined } | undefined;
  thread: { pid: bigint; tid: bigint; name: string } | undefined;
  unit: bigint | string | undefined;
}

export interface ShownEvent {
  type: 'begin' | 'end' | 'instant' | 'counter';
  track: bigint;
  time: bigint;
  name: string | undefined;
  category: string | undefined;
  args: Record<string, unknown>;
  flows: bigint[];
  value: number | undefined;
}

export interface Slice extends ShownEvent {
  end: bigint;
  depth: number;
  /** The slice that contains it on its track. */
  within: Slice | undefined;
}

export interface PerfettoTrace {
  tracks: Map<bigint, ShownTrack>;
  /** In the order of the file. */
  events: ShownEvent[];
  slices: Slice[];
  /** Of the clock snapshot: nanoseconds since 1970 at `zero`. */
  realtime: bigint | undefined;
  zero: bigint | undefined;
}

const TYPES = ['', 'begin', 'end', 'instant', 'counter'] as const;
/** Fields of InternedData. */
const TABLES = { categories: 1, names: 2, keys: 3, texts: 29 } as const;
type Table = keyof typeof TABLES;

class Interned {
  /** By number, not bigint: a map finds those several times quicker. */
  readonly #tables = new Map<Table, Map<number, string>>();

  clear(): void {
    this.#tables.clear();
  }

  add(data: Fields): void {
    for (const [name, field] of Object.entries(TABLES) as [Table, number][]) {
      for (const entry of messages(data, field)) {
        const table = this.#tables.get(name) ?? new Map<number, string>();
        this.#tables.set(name, table);
        table.set(Number(integer(entry, 1)!), text(entry, 2)!);
      }
    }
  }

  text(name: Table, iid: bigint): string {
    const found = this.#tables.get(name)?.get(Number(iid));
    if (found === undefined) throw new Error(`${name} ${iid} is not interned`);
    return found;
  }
}

const signed = (value: bigint): bigint => BigInt.asIntN(64, value);

function valueOf(annotation: Fields, interned: Interned): unknown {
  const iid = integer(annotation, 17);
  if (iid !== undefined) return interned.text('texts', iid);
  if (annotation.has(6)) return text(annotation, 6);
  if (annotation.has(2)) return integer(annotation, 2) === 1n;
  if (annotation.has(3)) return integer(annotation, 3);
  if (annotation.has(4)) return signed(integer(annotation, 4)!);
  if (annotation.has(5)) return double(annotation, 5);
  if (annotation.has(7)) return `0x${integer(annotation, 7)!.toString(16)}`;
  if (annotation.has(11)) return argsOf(messages(annotation, 11), interned);
  return messages(annotation, 12).map((element) => valueOf(element, interned));
}

function argsOf(annotations: Fields[], interned: Interned): Record<string, unknown> {
  return Object.fromEntries(
    annotations.map((annotation) => {
      const iid = integer(annotation, 1);
      const name = iid === undefined ? text(annotation, 10)! : interned.text('keys', iid);
      return [name, valueOf(annotation, interned)];
    }),
  );
}

function trackOf(descriptor: Fields): ShownTrack {
  const [process] = messages(descriptor, 3);
  const [thread] = messages(descriptor, 4);
  const [counter] = messages(descriptor, 8);
  return {
    uuid: integer(descriptor, 1)!,
    parent: integer(descriptor, 5),
    name: text(descriptor, 2),
    process: process && {
      pid: integer(process, 1)!,
      name: text(process, 6)!,
      labels: text(process, 8),
    },
    thread: thread && {
      pid: integer(thread, 1)!,
      tid: integer(thread, 2)!,
      name: text(thread, 5)!,
    },
    unit: counter && (integer(counter, 3) ?? text(counter, 6)),
  };
}

function eventOf(packet: Fields, event: Fields, interned: Interned): ShownEvent {
  const nameIid = integer(event, 10);
  const categoryIid = integer(event, 3);
  const counter = integer(event, 30);
  return {
    type: TYPES[Number(integer(event, 9))] as ShownEvent['type'],
    track: integer(event, 11)!,
    time: integer(packet, 8)!,
    name: nameIid === undefined ? text(event, 23) : interned.text('names', nameIid),
    category: categoryIid === undefined ? undefined : interned.text('categories', categoryIid),
    args: argsOf(messages(event, 4), interned),
    flows: (event.get(47) ?? []).map((flow) => flow as bigint),
    value: counter === undefined ? double(event, 44) : Number(signed(counter)),
  };
}

/** The slices of the events; throws if an end has no begin, or an event no track. */
function slicesOf({ events, tracks }: PerfettoTrace): Slice[] {
  const slices: Slice[] = [];
  const open = new Map<bigint, Slice[]>();
  // Sorted by time as in Perfetto: of one time the first in the file is first.
  for (const event of [...events].sort((a, b) =>
    a.time < b.time ? -1 : a.time > b.time ? 1 : 0,
  )) {
    if (!tracks.has(event.track)) throw new Error(`track ${event.track} is not described`);
    const stack = open.get(event.track) ?? [];
    open.set(event.track, stack);
    if (event.type === 'begin') {
      const slice = { ...event, end: -1n, depth: stack.length, within: stack.at(-1) };
      stack.push(slice);
      slices.push(slice);
    } else if (event.type === 'end') {
      const slice = stack.pop();
      if (slice === undefined) throw new Error(`an end without a begin at ${event.time}`);
      slice.end = event.time;
    }
  }
  return slices;
}

/** Reads a trace, also one that was cut after a packet. */
export function readPerfetto(bytes: Uint8Array): PerfettoTrace {
  const trace: PerfettoTrace = {
    tracks: new Map(),
    events: [],
    slices: [],
    realtime: undefined,
    zero: undefined,
  };
  const interned = new Interned();
  for (const packet of messages(decodeFields(bytes), 1)) {
    const flags = integer(packet, 13) ?? 0n;
    if ((flags & 1n) !== 0n) interned.clear();
    for (const data of messages(packet, 12)) interned.add(data);
    for (const snapshot of messages(packet, 6)) {
      for (const clock of messages(snapshot, 1)) {
        if (integer(clock, 1) === 1n) trace.realtime = integer(clock, 2);
        if (integer(clock, 1) === 6n) trace.zero = integer(clock, 2);
      }
    }
    for (const descriptor of messages(packet, 60)) {
      const track = trackOf(descriptor);
      if (trace.tracks.has(track.uuid)) throw new Error(`track ${track.uuid} is described twice`);
      trace.tracks.set(track.uuid, track);
    }
    for (const event of messages(packet, 11)) trace.events.push(eventOf(packet, event, interned));
  }
  trace.slices = slicesOf(trace);
  return trace;
}

/**
 * What must hold of every file: slices end where they were meant to, on tracks whose parents exist, and
 * each flow has two ends.
 *
 * @returns what does not hold.
 */
export function faultsOf({ slices, events, tracks }: PerfettoTrace): string[] {
  const faults: string[] = [];
  const flows = new Map<bigint, number>();
  for (const { flows: own } of events) {
    for (const flow of own) flows.set(flow, (flows.get(flow) ?? 0) + 1);
  }
  for (const [flow, ends] of flows) if (ends < 2) faults.push(`flow ${flow} has one end`);
  for (const { uuid, parent } of tracks.values()) {
    if (parent !== undefined && !tracks.has(parent)) faults.push(`track ${uuid} has no parent`);
  }
  for (const slice of slices) {
    const { time, end, within, name } = slice;
    if (end < time) faults.push(`${name} does not end`);
    if (within !== undefined && (time < within.time || end > within.end)) {
      faults.push(`${name} is not within ${within.name}`);
    }
    // An end that was taken for another one's shows as a length that nobody recorded.
    const length = slice.args['length'];
    if (typeof length === 'bigint' && length !== end - time) {
      faults.push(`${name} lasts ${end - time} instead of ${length}`);
    }
  }
  return faults;
}
