import { readFileSync } from 'node:fs';
import { checkTrace } from '../../src/ovni/read/check.js';
import { readStream } from '../../src/ovni/read/ordered-reader.js';
import { readTraceDirectory } from '../../src/ovni/read/trace-directory.js';
import type { ThreadStream } from '../../src/ovni/read/trace-directory.js';

/** An event as plain values, to be compared. */
export interface ReadEvent {
  mcv: string;
  clock: bigint;
  payload: Buffer;
  data: Buffer | undefined;
}

export function streamsOf(traceDir: string): ThreadStream[] {
  return readTraceDirectory(traceDir).streams;
}

export function eventsOf(stream: ThreadStream): ReadEvent[] {
  const events: ReadEvent[] = [];
  for (const event of readStream(stream.path, { version: stream.version })) {
    events.push({
      mcv: event.mcv,
      clock: event.clock,
      payload: Buffer.from(event.payload),
      data: event.data === undefined ? undefined : Buffer.from(event.data),
    });
  }
  return events;
}

/** The events of a trace with one stream. */
export function onlyStream(traceDir: string): ReadEvent[] {
  const streams = streamsOf(traceDir);
  if (streams.length !== 1) throw new Error(`${streams.length} streams in ${traceDir}`);
  return eventsOf(streams[0]!);
}

/** What the emulator would say, errors and warnings, as `rule: message`. */
export function findingsOf(traceDir: string): string[] {
  return [...checkTrace(traceDir)].map(({ rule, message }) => `${rule}: ${message}`);
}

/** Like {@link findingsOf} without what depends on how fast the machine's disk is. */
export function faultsOf(traceDir: string): string[] {
  return [...checkTrace(traceDir)]
    .filter(({ severity }) => severity === 'error')
    .map(({ rule, message }) => `${rule}: ${message}`);
}

/**
 * Takes the pairs that record a standstill out of `events` and says how many there were.
 *
 * @throws when one is no pair, or ends before it begins.
 */
export function withoutFlushes(events: ReadEvent[]): { events: ReadEvent[]; flushes: number } {
  const rest: ReadEvent[] = [];
  let flushes = 0;
  for (let at = 0; at < events.length; at++) {
    const event = events[at]!;
    if (event.mcv === 'OF]') throw new Error('OF] without OF[');
    if (event.mcv !== 'OF[') {
      rest.push(event);
      continue;
    }
    const end = events[++at];
    if (end?.mcv !== 'OF]' || end.clock < event.clock) throw new Error('OF[ without its OF]');
    flushes++;
  }
  return { events: rest, flushes };
}

/** The bytes of a stream with every clock set to 0. */
export function bytesWithoutClocks(stream: ThreadStream): Buffer {
  const bytes = readFileSync(stream.path);
  for (const { offset } of readStream(stream.path, { version: stream.version })) {
    bytes.fill(0, offset + 4, offset + 12);
  }
  return bytes;
}
