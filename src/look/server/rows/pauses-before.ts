import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { kindOfMarks, kindOfSpan } from '../../report/interruption-kinds.js';
import { threadKeys } from '../../report/processes.js';
import type { WaterfallPause } from '../../wire/panel-answers.js';

/** Calls of a trace that are looked at. */
const MOST_CALLS = 100;
/** Shorter pauses than this share of the way to the called process are not seen. */
const LEAST_SHARE = 1 / 512;

/** Stalls and collections of a called thread between a call and the request that it caused there. */
export class PausesBefore {
  readonly #index: LookIndex;
  #keys: string[] | undefined;
  #calls = 0;

  constructor(index: LookIndex) {
    this.#index = index;
  }

  /**
   * @param row the request.
   * @param from ns, when it was called.
   * @param to ns, when it began.
   */
  of(row: number, from: number, to: number): WaterfallPause[] {
    if (to <= from || this.#calls === MOST_CALLS) return [];
    this.#calls += 1;
    const index = this.#index;
    const tracks = this.#tracksOfThread(row);
    const rows = new Set(
      index
        .windows(from, to, 1 / LEAST_SHARE, tracks)
        .flatMap(({ rows: wide, merged }) => [...wide, ...merged.row]),
    );
    const pauses = [...rows].flatMap((each) => this.#pauseAt(each, from, to));
    // What the hook writes as a span and as a mark is drawn once.
    const seen: WaterfallPause[] = [];
    for (const pause of pauses.sort((a, b) => b.duration - a.duration)) {
      const isKnown = seen.some(
        (other) =>
          other.kind === pause.kind &&
          other.start < pause.start + pause.duration &&
          other.start + other.duration > pause.start,
      );
      if (!isKnown) seen.push(pause);
    }
    return seen.sort((a, b) => a.start - b.start);
  }

  #tracksOfThread(row: number): number[] {
    const { tracks } = this.#index;
    const keys = (this.#keys ??= threadKeys(this.#index));
    const key = keys[rowAt(this.#index, row).track];
    return tracks
      .filter((track) => keys[track.number] === key)
      .filter((track) => track.kind === 'thread' || kindOfMarks(track) !== undefined)
      .map(({ number }) => number);
  }

  #pauseAt(row: number, from: number, to: number): WaterfallPause[] {
    const own = rowAt(this.#index, row);
    const start = Math.max(from, own.start);
    const end = Math.min(to, own.end);
    if (end <= start) return [];
    const track = this.#index.tracks[own.track]!;
    const kind = track.kind === 'mark' ? kindOfMarks(track) : kindOfSpan(own.name);
    return kind === undefined ? [] : [{ kind, start, duration: end - start }];
  }
}
