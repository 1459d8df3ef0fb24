import { existsSync } from 'node:fs';
import { piecesOf } from '../../heph/pieces.js';
import { readPackets } from '../../heph/read/reader.js';
import type { EventPacket } from '../../heph/packet.js';
import {
  KEEP_RULES,
  KINDS,
  RELEASED_COUNT,
  RELEASED_DESCRIPTION,
  RELEASED_DURATIONS,
  RELEASED_ERRORS,
  RELEASED_KIND,
  RELEASED_NAME,
  RELEASED_TIME,
  RESOURCE_DESCRIPTION,
} from '../layout.js';
import type { SpanKind } from '../layout.js';

/** Requests that were not kept, of one name. */
export interface ReleasedRequests {
  name: string;
  kind: SpanKind;
  count: number;
  errors: number;
  /** Nanoseconds of all together. */
  time: number;
  /** Middles of the buckets, in nanoseconds, and how many durations they have. */
  durations: (readonly [duration: number, count: number])[];
}

/** Packets before which a thread says by which rules it keeps traces. */
const FIRST_PACKETS = 100;
const OCTAVE = 32;

function lowerBound(bucket: number): number {
  const place = bucket - 1;
  return bucket === 0 ? 0 : 2 ** Math.floor(place / OCTAVE) * (1 + (place % OCTAVE) / OCTAVE);
}

function durationsIn(text: string): ReleasedRequests['durations'] {
  return [...text.matchAll(/(\d+):(\d+)/g)].map(([, bucket, count]) => {
    const from = Number(bucket);
    return [Math.round((lowerBound(from) + lowerBound(from + 1)) / 2), Number(count)];
  });
}

function releasedOf({ attributes }: EventPacket): ReleasedRequests {
  const valueOf = (wanted: string): unknown =>
    attributes.find(({ name }) => name === wanted)?.value;
  const numberOf = (wanted: string): number => Number(valueOf(wanted) ?? 0);
  const textOf = (wanted: string): string => {
    const value = valueOf(wanted);
    return typeof value === 'string' ? value : '';
  };
  return {
    name: textOf(RELEASED_NAME),
    kind: KINDS[numberOf(RELEASED_KIND)] ?? 'internal',
    count: numberOf(RELEASED_COUNT),
    errors: numberOf(RELEASED_ERRORS),
    time: numberOf(RELEASED_TIME),
    durations: durationsIn(textOf(RELEASED_DURATIONS)),
  };
}

/** The counts in a Heph trace, of all its pieces. */
export function* releasedIn(path: string): Generator<ReleasedRequests, void> {
  if (existsSync(path)) yield* releasedInFile(path);
  else for (const piece of piecesOf(path)) yield* releasedInFile(piece);
}

/** A file whose threads keep every trace is not read to its end. */
function* releasedInFile(path: string): Generator<ReleasedRequests, void> {
  let isKeeping = false;
  let packets = 0;
  for (const packet of readPackets(path)) {
    if (!isKeeping && ++packets > FIRST_PACKETS) return;
    if (packet.kind !== 'event') continue;
    if (packet.description === RESOURCE_DESCRIPTION) {
      isKeeping ||= packet.attributes.some(({ name }) => name === KEEP_RULES);
    } else if (packet.description === RELEASED_DESCRIPTION) {
      yield releasedOf(packet);
    }
  }
}
