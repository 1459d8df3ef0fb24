import { STATUS_MASK, STATUS_SHIFT, UNFINISHED_BIT } from '../../look/index/look-index.js';
import { useApp } from '../state/app.js';
import type { App } from '../state/app.js';
import { useStore } from '../state/store.js';
import { countText, durationText } from '../../look/report/measures/units.js';
import { codeOfName, functionText } from '../../look/report/names/code-text.js';
import type { Picture } from './picture.js';

/** A box of the picture, which the next frame may draw elsewhere. */
export interface Tip {
  x: number;
  y: number;
  row: number;
  name: number;
  start: number;
  length: number;
  count: number;
  flags: number;
  track: number;
  lane: number;
  /** As in the picture. */
  samples: number;
  within: number;
  withinStart: number;
  /** Whether `start` is that of the row. */
  isExact: boolean;
}

export function tipOf(picture: Picture, box: number, x: number, y: number): Tip {
  const start = picture.start[box]!;
  return {
    x,
    y,
    row: picture.row[box]!,
    name: picture.name[box]!,
    start,
    length: picture.end[box]! - start,
    count: picture.count[box]!,
    flags: picture.flags[box]!,
    track: picture.track[box]!,
    lane: picture.lane[box]!,
    samples: picture.samples[box]!,
    within: picture.within[box]!,
    withinStart: picture.withinStart[box]!,
    isExact: picture.isExact(box),
  };
}

/** The tooltip of the box under the pointer. */
export function BoxTip(tip: Tip) {
  const app = useApp();
  // A path may come later.
  useStore(app.rowNames.store, ({ answers }) => answers);
  return (
    <div class="tip" style={tipStyle(tip.x, tip.y)}>
      {tip.samples > 0 ? sampleText(tip, app) : rowText(tip, app)}
    </div>
  );
}

function rowText(
  { row, name, start, length, count, flags, isExact }: Tip,
  { recording, rowNames }: App,
): string {
  const text = isExact ? rowNames.nameOf(name, row, start) : recording.name(name);
  if (count > 1) return manyText(count, 'spans', length, text);
  return [
    text,
    durationText(length),
    ...(((flags >> STATUS_SHIFT) & STATUS_MASK) === 2 ? ['error'] : []),
    ...((flags & UNFINISHED_BIT) !== 0 ? ['unfinished'] : []),
  ].join(' · ');
}

/** `distance (lib/search.js from line 6) · 120 ms · 12 samples · in GET /search` */
export function sampleText(
  { row, name, length, count, samples, within, withinStart }: Tip,
  { recording, rowNames }: App,
): string {
  const text = functionText(codeOfName(recording.name(name)));
  if (count > 1) return manyText(count, 'functions', length, text);
  return [
    text,
    durationText(length),
    samples === 1 ? '1 sample' : `${countText(samples)} samples`,
    ...(row === -1 ? [] : [`in ${rowNames.nameOf(within, row, withinStart)}`]),
  ].join(' · ');
}

function manyText(count: number, what: string, length: number, longest: string): string {
  return `${countText(count)} ${what} within ${durationText(length)}, the longest is ${longest}`;
}

/** Left of the pointer on the right half of the page, and above it on the lower half. */
function tipStyle(x: number, y: number): Record<string, string> {
  const { innerWidth, innerHeight } = window;
  return {
    ...(x > innerWidth / 2 ? { right: `${innerWidth - x + 12}px` } : { left: `${x + 12}px` }),
    ...(y > innerHeight / 2 ? { top: `${y - 40}px` } : { top: `${y + 16}px` }),
  };
}
