import { setTimeout } from 'node:timers/promises';
import { nextTurn } from '../index/turns.js';
import { OVERVIEW_QUESTION } from '../wire/view-answers.js';
import { boxesOf } from './boxes.js';
import type { Recording } from './recording.js';
import { Query } from './route.js';
import { reportAnswer } from './routes/report.js';
import { countSpansOf } from './rows/chosen-rows.js';
import { boundDurations } from './rows/sort-keys.js';

/** Does what the first questions of a page would have to wait for, while nobody asks anything. */
export async function readAhead(recording: Recording): Promise<void> {
  try {
    if (recording.index.rows >= MANY_ROWS) {
      await reportAnswer(recording, new Query(new URLSearchParams(OVERVIEW_QUESTION)));
      await firstPicture(recording);
      await practiseWindows(recording);
    }
    await readTable(recording);
  } catch {
    // It fails again for the question that needs it.
  }
}

/** A page that has rested for so long has its first picture. */
const REST_MS = 1000;
const LOOK_EVERY_MS = 50;
/** Nobody may open the page. */
const MOST_MS = 5000;

/** Until the page has its first picture: nothing competes with it. */
async function firstPicture(recording: Recording): Promise<void> {
  for (let waited = 0; waited < MOST_MS && !recording.isClosed; waited += LOOK_EVERY_MS) {
    if (recording.restMs >= REST_MS) return;
    await setTimeout(LOOK_EVERY_MS, undefined, { ref: false });
  }
}

/** How a page asks for windows: the whole recording, then ever smaller parts of its middle. */
const ZOOM = 6;
const LEAST_WINDOW = 1e6;
const PRACTICES = 2;
/** Of fewer rows the first windows are quick anyway. */
const MANY_ROWS = 100_000;

/**
 * Makes windows while nobody asks anything: code that has run a few times is compiled, and the memory that windows
 * share is there. The first windows of a large recording would take five times as long.
 */
async function practiseWindows(recording: Recording): Promise<void> {
  const { tracks, length } = recording.index;
  const shown = tracks.slice(0, 16).map(({ number }) => number);
  const screen = { width: 1400, lanes: 64 };
  for (let time = 0; time < PRACTICES; time++) {
    for (let size = length; size > LEAST_WINDOW; size /= ZOOM) {
      await nextTurn();
      if (recording.isClosed) return;
      const from = (length - size) / 2;
      const window = { from, to: from + size, width: 3072, tracks: shown };
      boxesOf(recording, { ...window, budget: 1800, screen });
    }
  }
}

/** Reads what the first rows of the table need, one part after the other while nobody asks anything. */
async function readTable(recording: Recording): Promise<void> {
  for (const part of [...recording.index.parts]) {
    await nextTurn();
    if (recording.isClosed) return;
    countSpansOf(part);
    boundDurations(part);
  }
}
