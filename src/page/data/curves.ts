import type { CurveColumns } from '../../look/wire/answers.js';
import { rangesOf } from './box-windows.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

/** One curve in a window that contains what the screen shows. */
export interface Curve {
  time: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

/** Curves in the window that the screen shows. Until that has come, those of the last one. */
export class Curves {
  onChange: () => void = () => undefined;
  readonly #server: Server;
  readonly #recording: RecordingData;
  #curves = new Map<number, Curve>();
  #shown = '';
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
    const level = Math.round(Math.log2((to - from) / width));
    const step = (2 ** level * width) / 2;
    const first = Math.floor((from - step / 2) / step) * step;
    const last = Math.ceil((to + step / 2) / step) * step;
    const pixels = Math.min(8192, Math.round((last - first) / 2 ** level));
    const key = [answer.generation, answer.revision, first, last, ...counters].join(' ');
    if (key === this.#shown) return;
    this.#shown = key;
    void this.#fetch(first, last, pixels, counters);
  }

  async #fetch(
    from: number,
    to: number,
    width: number,
    counters: readonly number[],
  ): Promise<void> {
    this.#asked?.abort();
    const asked = (this.#asked = new AbortController());
    try {
      const fields = { from, to, width: Math.max(1, width), counters: rangesOf(counters) };
      const answer = await this.#server.columns('/data/curves', fields, asked.signal);
      this.#curves = curvesOf(answer.columns as unknown as CurveColumns);
      this.onChange();
    } catch {
      // Aborted, or the connection says why.
      if (this.#asked === asked) this.#shown = '';
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
