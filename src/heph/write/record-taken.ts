import { textBound, writeHead, writeInteger, writeText, writeUntyped } from './encoder.js';
import { nameAt } from '../event-head.js';
import { SIZE_OFFSET, SUBSTREAM_OFFSET } from '../layout.js';
import type { EventStream } from './event-stream.js';
import { boundOfNames, resolveAttributes } from './taken-attributes.js';
import type { TakenAttributes } from './taken-attributes.js';
import type { AttributeScalar } from './value.js';

/**
 * Records an event that began at `trace.started[0]`, with attributes of any kind.
 *
 * @throws TracewrightError for an attribute that is not valid, and for an event that is too large.
 */
export function recordTaken(
  stream: EventStream,
  substream: number | bigint,
  description: string,
  taken: TakenAttributes,
): void {
  const { ring, trace } = stream;
  const bound = nameAt(0) + textBound(description) + boundOfNames(taken) + taken.valuesBound;
  const { packetLimit } = trace;
  // One that could be too large for a datagram is refused, whether there is room or not.
  const mustFit = ring.free >= bound || bound <= packetLimit;
  if (!taken.areUsual || bound > ring.longestRecord || !mustFit) {
    // An array's getter can record another event.
    const timing = trace.started[0]!;
    const typed = resolveAttributes(taken, trace.lenient);
    stream.record(timing, substream, description, {
      ...typed,
      bound: nameAt(0) + textBound(description) + typed.bound,
    });
    return;
  }
  if (ring.free < bound && !ring.makeRoom(bound)) {
    stream.counter[0]! += 1;
    return;
  }
  const size = encode(stream, substream, description, taken);
  if (size > packetLimit) stream.refuse(size, packetLimit);
  ring.advance(size);
  ring.commit();
}

/** Encodes an event with usual values into the ring and returns its size. */
function encode(
  stream: EventStream,
  substream: number | bigint,
  description: string,
  { names, values, count }: TakenAttributes,
): number {
  const { counter, id, ring, trace } = stream;
  const { view, bytes, position: start } = ring;
  const number = counter[0]!;
  writeHead(view, start, id, number, trace.started[0]!);
  // After the record has its number: see OpenRecords.numbersOf.
  counter[0] = number + 1;
  writeInteger(view, start + SUBSTREAM_OFFSET, substream);
  let at = writeText(view, bytes, nameAt(start), description);
  for (let i = 0; i < count; i++) {
    at = writeText(view, bytes, at, names[i]!);
    at = writeUntyped(view, bytes, at, values[i] as AttributeScalar);
  }
  view.setUint32(start + SIZE_OFFSET, at - start);
  return at - start;
}
