import { firstAtLeast } from '../../look/index/parts/order-rows.js';
import type { LitColumns } from '../../look/wire/answers.js';
import { gridWindow, laneKey, rangesOf } from './box-windows.js';
import type { Sight } from './box-windows.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

/** Where matches begin in one lane: the middle of each pixel that has some, ascending, and how many. */
interface LitLane {
  first: number;
  end: number;
}

/** How many rows of each box match the search: only the server knows all of them. */
export class LitMatches {
  onChange: () => void = () => undefined;
  readonly #server: Server;
  readonly #recording: RecordingData;
  #columns: LitColumns | undefined;
  #lanes: ReadonlyMap<number, LitLane> = new Map();
  /** Ns of a pixel of the window that has come. */
  #pixel = 0;
  #text: string | undefined;
  #key = '';
  #asked: AbortController | undefined;

  constructor(server: Server, recording: RecordingData) {
    this.#server = server;
    this.#recording = recording;
  }

  /** @param text of a search that is done; undefined: nothing is lit, or not yet by all of its matches. */
  want(sight: Sight, text: string | undefined): void {
    const { answer } = this.#recording;
    if (text !== this.#text) this.#columns = undefined;
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
    if (key === this.#key && (this.#columns !== undefined || this.#asked !== undefined)) return;
    this.#key = key;
    this.#asked?.abort();
    void this.#fetch(fields, (window.to - window.from) / window.width);
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
    const first = firstAtLeast(time, from, own.first, own.end);
    for (let at = first; at < own.end && time[at]! <= to; at++) onPixel(time[at]!, count[at]!);
  }

  async #fetch(fields: Record<string, string | number>, pixel: number): Promise<void> {
    const asked = (this.#asked = new AbortController());
    try {
      const { columns } = await this.#server.columns('/data/lit', fields, asked.signal);
      if (asked.signal.aborted) return;
      this.#columns = columns as unknown as LitColumns;
      this.#lanes = lanesOf(this.#columns);
      this.#pixel = pixel;
      this.onChange();
    } catch {
      // Aborted, or the connection says why.
    } finally {
      if (this.#asked === asked) this.#asked = undefined;
    }
  }
}

function lanesOf({ track, lane }: LitColumns): Map<number, LitLane> {
  const lanes = new Map<number, LitLane>();
  for (let at = 0; at < track.length; at++) {
    const key = laneKey(track[at]!, lane[at]!);
    const known = lanes.get(key);
    if (known === undefined) lanes.set(key, { first: at, end: at + 1 });
    else known.end = at + 1;
  }
  return lanes;
}
