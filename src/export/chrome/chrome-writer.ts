import { entryOf } from '../../core/map-entries.js';
import { jsonValue } from '../../core/json.js';
import { NumberedNames, UnusedNumbers } from '../../core/unused-numbers.js';
import { hexWord } from '../../core/words-text.js';
import type { Canvas, CounterUnit, PictureTime } from '../picture/canvas.js';

/**
 * One entry of the `traceEvents` array that chrome://tracing and Perfetto open (Trace Event
 * Format). Times are microseconds; a fraction carries the nanoseconds.
 */
export interface ChromeEvent {
  name: string;
  /** Phase: complete, counter, metadata, instant. */
  ph: 'X' | 'C' | 'M' | 'i';
  ts: number;
  dur?: number;
  pid: number;
  tid: number;
  cat?: string;
  id?: string;
  s?: 't' | 'p' | 'g';
  args?: Record<string, unknown>;
}

const NANOSECONDS_PER_MICROSECOND = 1000n;

/** Nanoseconds as the microseconds of a {@link ChromeEvent}, also where they exceed 2^53. */
export function microseconds(nanoseconds: bigint): number {
  const nearest = Number(nanoseconds);
  if (Number.isSafeInteger(nearest)) return nearest / 1000;
  const whole = nanoseconds / NANOSECONDS_PER_MICROSECOND;
  return Number(whole) + Number(nanoseconds % NANOSECONDS_PER_MICROSECOND) / 1000;
}

const NANOSECONDS = 1000;
const doubles = new Float64Array(1);
const bits = new BigInt64Array(doubles.buffer);

/** The next larger double of a positive one. */
function nextUp(value: number): number {
  doubles[0] = value;
  bits[0] = bits[0]! + 1n;
  return doubles[0];
}

/**
 * Whole nanoseconds as the microseconds from which a viewer gets the same nanoseconds, also if it
 * multiplies by 1000 and cuts off the rest, as Perfetto does. So slices that lie within each other, or
 * one after another, do so there, too.
 */
export function exactMicroseconds(nanoseconds: number): number {
  const nearest = nanoseconds / NANOSECONDS;
  return nearest > 0 && Math.trunc(nearest * NANOSECONDS) < nanoseconds ? nextUp(nearest) : nearest;
}

const CHUNK_CHARACTERS = 256 << 10;
const NS_PER_MS = 1e6;
/** Lanes have numbers from here on: no thread has them. */
const FIRST_LANE = 1_000_000_000;

/** A line of the picture. A counter has the factor of its values. */
interface Track {
  pid: number;
  tid: number;
  name: string;
  factor: number;
  /** What has begun on it, the innermost last. */
  open: { event: ChromeEvent; start: PictureTime }[];
}

/**
 * Writes Trace Event Format ("JSON Object Format"), one event a line. A slice is written when it ends. Integers beyond
 * 2^53 - 1 are strings, as are NaN and infinities.
 */
export class ChromeWriter implements Canvas {
  events = 0;
  #text = '{"displayTimeUnit":"ns","traceEvents":[';
  #separator = '\n';
  readonly #tracks: Track[] = [];
  readonly #lanes = new Map<number, UnusedNumbers>();
  #track: Track | undefined;
  #event: ChromeEvent | undefined;
  #start: PictureTime = 0;
  #values = new NumberedNames();

  get isFull(): boolean {
    return this.#text.length >= CHUNK_CHARACTERS;
  }

  take(): Buffer {
    const bytes = Buffer.from(this.#text, 'utf8');
    this.#text = '';
    return bytes;
  }

  end(): Buffer {
    this.#text += '\n]}\n';
    return this.take();
  }

  /** The labels of the processes say it. */
  clock(): void {
    return undefined;
  }

  processTrack(pid: number, name: string, labels: readonly string[]): number {
    const track = this.#newTrack(pid, 0, name);
    this.#describe('process_name', pid, 0, { name });
    if (labels.length > 0) {
      this.#describe('process_labels', pid, 0, { labels: labels.join(', ') });
    }
    return track;
  }

  threadTrack(_process: number, pid: number, tid: number, name: string): number {
    this.#describe('thread_name', pid, tid, { name });
    return this.#newTrack(pid, tid, name);
  }

  namedTrack(parent: number, name: string): number {
    const { pid, tid, name: above } = this.#tracks[parent]!;
    const lanes = entryOf(this.#lanes, pid, () => new UnusedNumbers());
    const lane = lanes.take(FIRST_LANE);
    this.#describe('thread_name', pid, lane, { name: `${above}, ${name}` });
    this.#describe('thread_sort_index', pid, lane, { sort_index: tid });
    return this.#newTrack(pid, lane, name);
  }

  /** Counters have no unit: their names say it. */
  counterTrack(process: number, name: string, unit: CounterUnit): number {
    const { pid } = this.#tracks[process]!;
    const isTime = unit === 'ns';
    const shown = isTime ? ' ms' : unit === 'count' ? '' : ` ${unit}`;
    return this.#newTrack(pid, 0, name + shown, isTime ? 1 / NS_PER_MS : 1);
  }

  beginEvent(
    isInstant: boolean,
    track: number,
    time: PictureTime,
    name: string,
    cat: string,
  ): void {
    const { pid, tid } = (this.#track = this.#tracks[track]!);
    this.#start = visible(time);
    const ts = timeOf(this.#start);
    this.#event = isInstant
      ? { name, ph: 'i', s: 't', cat, ts, pid, tid }
      : { name, ph: 'X', cat, ts, dur: 0, pid, tid };
  }

  annotate(name: string, value: unknown): void {
    this.#values.add(name, jsonValue(value));
  }

  annotateId(name: string, high: number, low: number): void {
    this.annotate(name, hexWord(high) + hexWord(low));
  }

  /** The ids of the spans say it. */
  flow(): void {
    return undefined;
  }

  endEvent(): void {
    const event = this.#event!;
    if (!this.#values.isEmpty) {
      event.args = this.#values.values;
      this.#values = new NumberedNames();
    }
    if (event.ph === 'i') this.#write(event);
    else this.#track!.open.push({ event, start: this.#start });
  }

  endSlice(track: number, time: PictureTime): void {
    const { event, start } = this.#tracks[track]!.open.pop()!;
    event.dur = timeOf(difference(visible(time), start));
    this.#write(event);
  }

  counter(track: number, time: number, value: number): void {
    const { pid, tid, name, factor } = this.#tracks[track]!;
    const args = { value: jsonValue(value * factor) };
    this.#write({ name, ph: 'C', ts: timeOf(visible(time)), pid, tid, args });
  }

  #newTrack(pid: number, tid: number, name: string, factor = 1): number {
    return this.#tracks.push({ pid, tid, name, factor, open: [] }) - 1;
  }

  #describe(name: string, pid: number, tid: number, args: Record<string, unknown>): void {
    this.#write({ name, ph: 'M', ts: 0, pid, tid, args });
  }

  #write(event: ChromeEvent): void {
    if (event.ph !== 'M') this.events++;
    this.#text += this.#separator + JSON.stringify(event);
    this.#separator = ',\n';
  }
}

/** Viewers drop what is before 0. */
function visible(time: PictureTime): PictureTime {
  return time < 0 ? 0 : time;
}

function difference(end: PictureTime, start: PictureTime): PictureTime {
  if (typeof end === 'number' && typeof start === 'number') return Math.max(0, end - start);
  return visible(BigInt(end) - BigInt(start));
}

function timeOf(time: PictureTime): number {
  return typeof time === 'bigint' ? microseconds(time) : exactMicroseconds(time);
}
