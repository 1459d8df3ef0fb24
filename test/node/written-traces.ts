import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkTrace as checkHeph } from '../../src/heph/read/check.js';
import type { EventPacket } from '../../src/heph/packet.js';
import { readPackets } from '../../src/heph/read/reader.js';
import { checkTrace as checkOvni } from '../../src/ovni/read/check.js';
import { readStream } from '../../src/ovni/read/ordered-reader.js';
import { decodeArguments } from '../../src/ovni/read/event-arguments.js';
import { readTraceDirectory } from '../../src/ovni/read/trace-directory.js';
import { temporaryDirectory } from './traced-process.js';

/** ovni's own emulator, where the environment names one. */
const emulator = process.env['OVNIEMU'];

/** A span as the tests look at it. */
export interface SpanRecord {
  description: string;
  stream: number;
  substream: bigint;
  duration: bigint;
  /** Of an HTTP server. */
  isRequest: boolean;
  attributes: Record<string, unknown>;
}

/** An ovni event as the tests look at it. */
export interface EventRecord {
  mcv: string;
  clock: bigint;
  arguments: Record<string, unknown>;
}

/** Every Heph file of a run. */
export function hephFiles(directory: string): string[] {
  const place = join(directory, 'heph');
  if (!existsSync(place)) return [];
  return readdirSync(place).map((name) => join(place, name));
}

/** What the contract of spans adds to a trace. */
const isOwn = (name: string): boolean => name.startsWith('~') || name.startsWith('tracewright.');
const KIND = 0x700n;
const SERVER = 0x100n;

/** Every span of a run, file by file, in the order in which they ended. */
export function spansOf(directory: string): SpanRecord[] {
  return hephFiles(directory).flatMap((path) =>
    [...readPackets(path)]
      .filter((packet): packet is EventPacket => packet.kind === 'event')
      .filter(({ description }) => !isOwn(description))
      .map((event) => {
        const all = event.attributes.map(({ name, value }) => [name, value] as const);
        const { '~f': flags } = Object.fromEntries(all);
        return {
          description: event.description,
          stream: event.stream,
          substream: event.substream,
          duration: event.end - event.start,
          isRequest: typeof flags === 'bigint' && (flags & KIND) === SERVER,
          attributes: Object.fromEntries(all.filter(([name]) => !isOwn(name))),
        };
      }),
  );
}

/** What the tests look at of a request. */
const SHORT_NAMES = {
  'http.route': 'route',
  'http.request.method': 'method',
  'url.path': 'path',
  'http.response.status_code': 'status',
  'error.type': 'failure',
} as const;

/** The requests that the servers of a run received. */
export function requestsOf(directory: string): Record<string, unknown>[] {
  return spansOf(directory)
    .filter(({ isRequest }) => isRequest)
    .map(({ attributes }) =>
      Object.fromEntries(
        Object.entries(SHORT_NAMES)
          .map(([name, short]) => [short, attributes[name]] as const)
          // The status of an error is its type too.
          .filter(([, value]) => value !== undefined && value !== '500'),
      ),
    );
}

/** The ovni streams of a run by what they say they are: `main`, `worker 1` … */
export function streamsOf(directory: string): Map<string, EventRecord[]> {
  const trace = readTraceDirectory(join(directory, 'ovni'));
  return new Map(
    trace.streams.map((stream) => {
      const { node } = stream.metadata.attributes as { node?: { thread?: string } };
      const events: EventRecord[] = [];
      for (const event of readStream(stream.path, { version: stream.version })) {
        const { mcv, clock } = event;
        events.push({ mcv, clock, arguments: decodeArguments(event) ?? {} });
      }
      return [node?.thread ?? stream.path, events] as const;
    }),
  );
}

/**
 * What is wrong with the traces of a run: what the checks find (apart from what only concerns the
 * narrow converter of Heph, or a process without requests), ring files that were left, and what
 * ovni's emulator says, where it is there.
 */
export function faultsOf(directory: string): string[] {
  const faults: string[] = [];
  const ovni = join(directory, 'ovni');
  if (existsSync(ovni)) {
    for (const { rule, message } of checkOvni(ovni)) faults.push(`${rule}: ${message}`);
    if (emulator !== undefined) faults.push(...emulated(ovni));
  }
  for (const path of hephFiles(directory)) {
    for (const { rule, message } of checkHeph(path)) {
      if (!rule.startsWith('converter-') && rule !== 'no-events')
        faults.push(`${rule}: ${message}`);
    }
  }
  const left = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  faults.push(...left.filter((name) => name.endsWith('.ring')));
  return faults;
}

function emulated(ovni: string): string[] {
  // The emulator writes into the directory that it reads.
  const copy = join(temporaryDirectory(), 'ovni');
  cpSync(ovni, copy, { recursive: true });
  const { status, stderr } = spawnSync(emulator!, [copy], { encoding: 'utf8' });
  return status === 0 && stderr.trimEnd().endsWith('emulation finished ok') ? [] : [stderr];
}
