import type { LitMatches } from '../data/lit-matches.js';
import { pixelOf } from './collect-boxes.js';
import type { Scale } from './collect-boxes.js';
import type { Picture } from './picture.js';

/** The boxes that match a search. */
export interface LitBoxes {
  /** The share of a box's rows that match, from 0 to 1. */
  shareOf(box: number): number;
  /** The pixels of a merged box in which rows begin that match. */
  eachPixel(box: number, onPixel: (x: number) => void): void;
}

/** @param rows the first matches: all that is known until the server has counted those of each box. */
export function litBoxes(
  picture: Picture,
  rows: ReadonlySet<number>,
  matches: LitMatches,
  scale: Scale,
): LitBoxes {
  const { track, lane, start, end, count, row, samples } = picture;
  return {
    shareOf(box) {
      // What ran is no match, and shows where one spent its time.
      if (samples[box]! > 0) return 1;
      const isMerged = count[box]! > 1;
      const own: readonly [number, number, number, number] = [
        track[box]!,
        lane[box]!,
        start[box]!,
        end[box]!,
      ];
      const isFound = rows.has(row[box]!);
      if (isFound && !isMerged) return 1;
      const found = matches.countIn(...own, isMerged);
      if (found === undefined) return isFound ? 1 : 0;
      return Math.min(1, found / count[box]!);
    },
    eachPixel(box, onPixel) {
      matches.each(track[box]!, lane[box]!, start[box]!, end[box]!, (time) => {
        onPixel(Math.floor(pixelOf(scale, time)));
      });
    },
  };
}
