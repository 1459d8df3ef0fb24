import { encodeEvent, textBound } from './encoder.js';
import { nameAt } from '../layout.js';
import type { EventStream } from './event-stream.js';
import { boundOfNames, resolveAttributes } from './taken-attributes.js';
import type { TakenAttributes } from './taken-attributes.js';

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
  const { counter, id } = stream;
  const { view, bytes, position } = ring;
  const number = counter[0]!;
  const timing = trace.started[0]!;
  const size = encodeEvent(
    view,
    bytes,
    position,
    id,
    number,
    timing,
    substream,
    description,
    taken,
  );
  // After the record has its number: see OpenRecords.numbersOf.
  counter[0] = number + 1;
  if (size > packetLimit) stream.refuse(size, packetLimit);
  ring.advance(size);
  ring.commit();
}
