import type { CurveColumns } from '../../look/wire/answers.js';
import { gridWindow, rangesOf } from './box-windows.js';
import { LastQuestion } from './last-question.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

const MOST_PIXELS = 8192;

/** One curve in a window that contains what the screen shows. */
export interface Curve {
  time: Float64Array;
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
  #revision = '';
  readonly #question = new LastQuestion();

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
    const known = this.#windows.get(key);
    if (known !== undefined) {
      this.#question.answered(key);
      this.#keep(key, known);
      return;
    }
    const fields = {
      from: window.from,
      to: window.to,
      width: Math.min(MOST_PIXELS, window.width),
      counters: rangesOf(counters),
    };
    this.#question.ask(
      key,
      (signal) => this.#server.columns<CurveColumns>('/data/curves', fields, signal),
      ({ columns }) => {
        this.#keep(key, curvesOf(columns));
        this.onChange();
      },
    );
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

function curvesOf({ counter, time, high }: CurveColumns): Map<number, Curve> {
  const curves = new Map<number, Curve>();
  for (let first = 0; first < counter.length;) {
    let end = first + 1;
    while (end < counter.length && counter[end] === counter[first]) end++;
    curves.set(counter[first]!, {
      time: time.subarray(first, end),
      high: high.subarray(first, end),
    });
    first = end;
  }
  return curves;
}
