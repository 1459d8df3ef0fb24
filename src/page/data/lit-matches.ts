import { firstAtLeast } from '../../look/index/parts/first-at-least.js';
import type { LitColumns } from '../../look/wire/answers.js';
import { gridWindow, laneKey, lanesOf, rangesOf } from './box-windows.js';
import type { Sight } from './box-windows.js';
import { LastQuestion } from './last-question.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

/** How many rows of each box match the search: only the server knows all of them. */
export class LitMatches {
  onChange: () => void = () => undefined;
  readonly #server: Server;
  readonly #recording: RecordingData;
  #columns: LitColumns | undefined;
  /** The pixels of each lane that have matches, ascending. */
  #lanes: ReturnType<typeof lanesOf> = new Map();
  /** Ns of a pixel of the window that has come. */
  #pixel = 0;
  #text: string | undefined;
  readonly #question = new LastQuestion();

  constructor(server: Server, recording: RecordingData) {
    this.#server = server;
    this.#recording = recording;
  }

  /** @param text of a search that is done; undefined: nothing is lit, or not yet by all of its matches. */
  want(sight: Sight, text: string | undefined): void {
    const { answer } = this.#recording;
    if (text !== this.#text) {
      this.#columns = undefined;
      this.#question.answered('');
    }
    this.#text = text;
    if (answer === undefined || text === undefined || sight.tracks.length === 0) return;
    const window = gridWindow(sight);
    const { tracks, fold } = sight;
    const fields = {
      from: window.from,
      to: window.to,
      width: window.width,
      tracks: rangesOf(tracks),
      fold: fold.lanes,
      open: rangesOf(fold.open),
      where: text,
    };
    const key = JSON.stringify([answer.generation, answer.revision, fields]);
    this.#question.ask(
      key,
      (signal) => this.#server.columns<LitColumns>('/data/lit', fields, signal),
      ({ columns }) => {
        this.#columns = columns;
        this.#lanes = lanesOf(columns);
        this.#pixel = (window.to - window.from) / window.width;
        this.onChange();
      },
    );
  }

  /**
   * How many rows that a box has match. Undefined: nobody knows yet.
   *
   * @param isMerged whether the box has several rows, that begin at any time within it.
   */
  countIn(
    track: number,
    lane: number,
    start: number,
    end: number,
    isMerged: boolean,
  ): number | undefined {
    const from = isMerged ? start : start - this.#pixel / 2;
    const to = isMerged ? end : start + this.#pixel / 2;
    let count: number | undefined;
    this.each(track, lane, from, to, (_, found) => (count = (count ?? 0) + found));
    return this.#columns === undefined ? undefined : (count ?? 0);
  }

  /** The pixels of a lane between two times in which matches begin, and how many do. */
  each(
    track: number,
    lane: number,
    from: number,
    to: number,
    onPixel: (time: number, count: number) => void,
  ): void {
    const own = this.#lanes.get(laneKey(track, lane));
    if (this.#columns === undefined || own === undefined) return;
    const { time, count } = this.#columns;
    const first = firstAtLeast(time, from, ...own);
    for (let at = first; at < own[1] && time[at]! <= to; at++) onPixel(time[at]!, count[at]!);
  }
}
