import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PictureExport } from '../../../src/export/picture/picture-export.js';
import type { ExportOptions } from '../../../src/export/selection.js';
import { findTraces } from '../../../src/traces/find-traces.js';
import { tracewright } from '../../cli/run-command.js';
import type { PictureEvent } from '../../rows/row-events.js';
import { readPerfetto } from './perfetto-trace.js';
import type { PerfettoTrace, ShownTrack } from './perfetto-trace.js';

/** Lanes have numbers that no thread has. */
const FIRST_LANE = 1_000_000_000;

/** What a value is in JSON. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

class Tracks {
  readonly #tracks: PerfettoTrace['tracks'];

  constructor(tracks: PerfettoTrace['tracks']) {
    this.#tracks = tracks;
  }

  /** The process and thread of a track, or the number of a lane. */
  of(uuid: bigint): { pid: number; tid: number; name: string } {
    const track = this.#tracks.get(uuid)!;
    const { process, thread, parent, name } = track;
    if (process !== undefined) return { pid: Number(process.pid), tid: 0, name: process.name };
    if (thread !== undefined) {
      return { pid: Number(thread.pid), tid: Number(thread.tid), name: thread.name };
    }
    const above = this.of(parent!);
    if (track.unit !== undefined) return { ...above, name: name! };
    return {
      pid: above.pid,
      tid: FIRST_LANE + Number(uuid),
      name: `${above.name}, ${name}`,
    };
  }
}

/** The content of a Perfetto file, in the order of the file. */
export function drawnEvents(bytes: Uint8Array): PictureEvent[] {
  const trace = readPerfetto(bytes);
  const tracks = new Tracks(trace.tracks);
  const zero = trace.zero ?? 1_000_000_000n;
  const microseconds = (time: bigint): number => Number(time) / 1000;
  const described = [...trace.tracks.values()].flatMap((track) => describe(track, tracks));
  const ends = new Map(trace.slices.map(({ args, end }) => [args, end]));
  const drawn = trace.events.flatMap((event): PictureEvent[] => {
    const { type, track, time, args, category } = event;
    const { pid, tid, name } = tracks.of(track);
    const at = { pid, tid, ts: microseconds(time - zero) };
    if (type === 'counter') return [{ name, ph: 'C', ...at, args: { value: event.value } }];
    if (type === 'end') return [];
    const own: PictureEvent = { name: event.name!, ph: 'i', ...at };
    if (category !== undefined) own.cat = category;
    if (Object.keys(args).length > 0) own.args = plain(args) as Record<string, unknown>;
    if (type === 'instant') return [own];
    return [{ ...own, ph: 'X', dur: microseconds(ends.get(args)! - time) }];
  });
  return [...described, ...drawn];
}

function describe({ uuid, process, unit }: ShownTrack, tracks: Tracks): PictureEvent[] {
  const { pid, tid, name } = tracks.of(uuid);
  const line = (title: string, args: Record<string, unknown>): PictureEvent => {
    return { name: title, ph: 'M', ts: 0, pid, tid, args };
  };
  if (unit !== undefined) return [];
  if (process === undefined) return [line('thread_name', { name })];
  const { labels } = process;
  return [
    line('process_name', { name }),
    ...(labels === undefined ? [] : [line('process_labels', { labels })]),
  ];
}

/** The traces at a path as a picture. */
export function drawn(path: string, options: ExportOptions = {}): PictureEvent[] {
  return drawnEvents(Buffer.concat([...new PictureExport(findTraces([path]), options).chunks()]));
}

/** Runs `convert --to perfetto`, and reads what it has written. */
export function convertToPicture(
  ...args: string[]
): ReturnType<typeof tracewright> & { events: PictureEvent[]; bytes: Buffer } {
  const directory = mkdtempSync(join(tmpdir(), 'picture-'));
  try {
    const out = join(directory, 'picture.pftrace');
    const run = tracewright('convert', '--to', 'perfetto', ...args, out);
    const bytes = readFileSync(out);
    return { ...run, bytes, events: drawnEvents(bytes) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
