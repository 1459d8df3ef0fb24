import { existsSync } from 'node:fs';
import { piecesOf } from '../../heph/pieces.js';
import { readPackets } from '../../heph/read/reader.js';
import type { EventPacket } from '../../heph/packet.js';
import {
  KEEP_RULES,
  KINDS,
  RELEASED_BELOW,
  RELEASED_COUNT,
  RELEASED_DESCRIPTION,
  RELEASED_DURATIONS,
  RELEASED_ERRORS,
  RELEASED_KIND,
  RELEASED_LIMITED,
  RELEASED_NAME,
  RELEASED_RESOURCE,
  RELEASED_ROUTE,
  RELEASED_TIME,
  RESOURCE_DESCRIPTION,
} from '../layout.js';
import type { SpanKind } from '../layout.js';

/** Requests that were not kept, of one name, or operations below such requests. */
export interface ReleasedRequests {
  name: string;
  /** Empty: the name has none. */
  route: string;
  isBelow: boolean;
  kind: SpanKind;
  /** Number of their resource in the file. */
  resource: number;
  /** When they ended, in nanoseconds since 1970. */
  from: bigint;
  to: bigint;
  count: number;
  errors: number;
  /** How many were slow or had failed, and were above the limit of kept traces. */
  limited: number;
  /** Nanoseconds of all together. */
  time: number;
  /** Middles of the buckets, in nanoseconds, and how many durations they have. */
  durations: (readonly [duration: number, count: number])[];
}

/** Packets before which a thread says by which rules it keeps traces. */
const FIRST_PACKETS = 100;
const OCTAVE = 32;

function lowerBound(bucket: number): number {
  const position = bucket - 1;
  return bucket === 0 ? 0 : 2 ** Math.floor(position / OCTAVE) * (1 + (position % OCTAVE) / OCTAVE);
}

function durationsIn(text: string): ReleasedRequests['durations'] {
  return [...text.matchAll(/(\d+):(\d+)/g)].map(([, bucket, count]) => {
    const from = Number(bucket);
    return [Math.round((lowerBound(from) + lowerBound(from + 1)) / 2), Number(count)];
  });
}

/**
 * Reads an event of counts.
 *
 * @param epoch of its trace, in nanoseconds since 1970.
 */
export function releasedOf({ attributes, start, end }: EventPacket, epoch = 0n): ReleasedRequests {
  const valueOf = (wanted: string): unknown =>
    attributes.find(({ name }) => name === wanted)?.value;
  const numberOf = (wanted: string): number => Number(valueOf(wanted) ?? 0);
  const textOf = (wanted: string): string => {
    const value = valueOf(wanted);
    return typeof value === 'string' ? value : '';
  };
  return {
    name: textOf(RELEASED_NAME),
    route: textOf(RELEASED_ROUTE),
    resource: numberOf(RELEASED_RESOURCE),
    isBelow: numberOf(RELEASED_BELOW) === 1,
    kind: KINDS[numberOf(RELEASED_KIND)] ?? 'internal',
    from: epoch + start,
    to: epoch + end,
    count: numberOf(RELEASED_COUNT),
    errors: numberOf(RELEASED_ERRORS),
    limited: numberOf(RELEASED_LIMITED),
    time: numberOf(RELEASED_TIME),
    durations: durationsIn(textOf(RELEASED_DURATIONS)),
  };
}

/** The counts in a Heph trace, of all its pieces. */
export function* releasedIn(path: string): Generator<ReleasedRequests, void> {
  for (const each of notesIn(path)) if (each !== KEEPING) yield each;
}

/** When the last counts of a trace end, in ns since 1970; undefined: there are none, as every trace is kept. */
export function countedUntil(path: string): bigint | undefined {
  let until: bigint | undefined;
  for (const each of notesIn(path)) {
    const to = each === KEEPING ? 0n : each.to;
    if (until === undefined || to > until) until = to;
  }
  return until;
}

/** A thread says by which rules it keeps traces. */
const KEEPING = 'keeping';

function* notesIn(path: string): Generator<ReleasedRequests | typeof KEEPING, void> {
  for (const file of existsSync(path) ? [path] : piecesOf(path)) yield* notesInFile(file);
}

/** A file whose threads keep every trace is not read to its end. */
function* notesInFile(path: string): Generator<ReleasedRequests | typeof KEEPING, void> {
  let isKeeping = false;
  let packets = 0;
  let epoch = 0n;
  for (const packet of readPackets(path)) {
    if (!isKeeping && ++packets > FIRST_PACKETS) return;
    if (packet.kind !== 'event') {
      epoch = packet.epoch ?? epoch;
      continue;
    }
    if (packet.description === RESOURCE_DESCRIPTION) {
      if (!packet.attributes.some(({ name }) => name === KEEP_RULES)) continue;
      isKeeping = true;
      yield KEEPING;
    } else if (packet.description === RELEASED_DESCRIPTION) {
      yield releasedOf(packet, epoch);
    }
  }
}
