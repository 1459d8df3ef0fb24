import type { CurveColumns } from '../../look/wire/answers.js';
import { gridWindow, rangesOf } from './box-windows.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

const MOST_PIXELS = 8192;

/** One curve in a window that contains what the screen shows. */
export interface Curve {
  time: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

/** Windows that are kept: those of a zoom and back. */
const MOST_WINDOWS = 48;

/** Curves in the window that the screen shows. Until that has come, those of the last one. */
export class Curves {
  onChange: () => void = () => undefined;
  readonly #server: Server;
  readonly #recording: RecordingData;
  /** By window; the one that was used last is the last. */
  readonly #windows = new Map<string, Map<number, Curve>>();
  #curves = new Map<number, Curve>();
  #shown = '';
  #revision = '';
  #asked: AbortController | undefined;

  constructor(server: Server, recording: RecordingData) {
    this.#server = server;
    this.#recording = recording;
  }

  of(counter: number): Curve | undefined {
    return this.#curves.get(counter);
  }

  /** Says what the screen shows now. */
  want(from: number, to: number, width: number, counters: readonly number[]): void {
    const { answer } = this.#recording;
    if (answer === undefined || counters.length === 0) return;
    const window = gridWindow({ from, to, width });
    const revision = `${answer.generation} ${answer.revision}`;
    if (revision !== this.#revision) this.#windows.clear();
    this.#revision = revision;
    const key = [revision, window.level, window.column, window.width, ...counters].join(' ');
    if (key === this.#shown) return;
    this.#shown = key;
    this.#asked?.abort();
    const known = this.#windows.get(key);
    if (known === undefined) void this.#fetch(key, window, counters);
    else this.#keep(key, known);
  }

  async #fetch(
    key: string,
    { from, to, width }: { from: number; to: number; width: number },
    counters: readonly number[],
  ): Promise<void> {
    const asked = (this.#asked = new AbortController());
    try {
      const fields = {
        from,
        to,
        width: Math.min(MOST_PIXELS, width),
        counters: rangesOf(counters),
      };
      const answer = await this.#server.columns('/data/curves', fields, asked.signal);
      if (asked.signal.aborted) return;
      this.#keep(key, curvesOf(answer.columns as unknown as CurveColumns));
      this.onChange();
    } catch {
      // Aborted, or the connection says why.
      if (this.#asked === asked) this.#shown = '';
    }
  }

  #keep(key: string, curves: Map<number, Curve>): void {
    this.#curves = curves;
    this.#windows.delete(key);
    this.#windows.set(key, curves);
    if (this.#windows.size > MOST_WINDOWS) {
      this.#windows.delete(this.#windows.keys().next().value!);
    }
  }
}

function curvesOf({ counter, time, low, high }: CurveColumns): Map<number, Curve> {
  const curves = new Map<number, Curve>();
  for (let first = 0; first < counter.length;) {
    let end = first + 1;
    while (end < counter.length && counter[end] === counter[first]) end++;
    curves.set(counter[first]!, {
      time: time.subarray(first, end),
      low: low.subarray(first, end),
      high: high.subarray(first, end),
    });
    first = end;
  }
  return curves;
}
