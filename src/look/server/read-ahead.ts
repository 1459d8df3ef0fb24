import { nextTurn } from '../index/turns.js';
import { boxesOf } from './boxes.js';
import type { Recording } from './recording.js';
import { countSpansOf } from './rows/chosen-rows.js';
import { boundDurations } from './rows/sort-keys.js';

/** Reads the columns that every picture needs, so that the first one does not wait for them. */
export function readPicture(recording: Recording): void {
  const { tracks, length } = recording.index;
  const shown = tracks.slice(0, 16).map(({ number }) => number);
  const to = Math.max(1, length);
  const screen = { width: 1024, lanes: 64 };
  boxesOf(recording, { from: 0, to, width: 1024, tracks: shown, budget: 1000, screen });
}

/** Reads what the first rows of the table need, one part after the other while nobody asks anything. */
export async function readTable(recording: Recording): Promise<void> {
  for (const part of [...recording.index.parts]) {
    await nextTurn();
    if (recording.isClosed) return;
    countSpansOf(part);
    boundDurations(part);
  }
}
