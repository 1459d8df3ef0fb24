import { checkTrace } from '../../src/heph/read/check.js';
import type { EventPacket, Packet } from '../../src/heph/packet.js';
import { readPackets } from '../../src/heph/read/reader.js';

export function packetsOf(path: string): Packet[] {
  return [...readPackets(path)];
}

export function eventsOf(path: string): EventPacket[] {
  return eventsAmong(readPackets(path));
}

export function eventsAmong(packets: Iterable<Packet>): EventPacket[] {
  return [...packets].filter((packet): packet is EventPacket => packet.kind === 'event');
}

/** What the check finds, but for what only the format's own converter cannot read. */
export function findingsOf(path: string): string[] {
  return [...checkTrace(path)]
    .filter(({ rule }) => !rule.startsWith('converter'))
    .map(({ rule, message }) => `${rule}: ${message}`);
}

/** The counters of each stream, in the order in which they came. */
export function countersByStream(events: Iterable<EventPacket>): Map<number, number[]> {
  const counters = new Map<number, number[]>();
  for (const { stream, counter } of events) {
    const known = counters.get(stream);
    if (known === undefined) counters.set(stream, [counter]);
    else known.push(counter);
  }
  return counters;
}

/** @throws unless `counters` are 0, 1, 2 … `count` - 1. */
export function expectComplete(counters: readonly number[], count: number): void {
  if (counters.length !== count) throw new Error(`${counters.length} events, not ${count}`);
  counters.forEach((counter, i) => {
    if (counter !== i) throw new Error(`counter ${counter} in place of ${i}`);
  });
}
