import { STATUS_MASK, STATUS_SHIFT, UNFINISHED_BIT } from '../../look/index/look-index.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { countText, durationText } from '../../look/report/measures/units.js';
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
    isExact: picture.isExact(box),
  };
}

/** The tooltip of the box under the pointer. */
export function BoxTip({ x, y, row, name, start, length, count, flags, isExact }: Tip) {
  const { recording, rowNames } = useApp();
  // A path may come later.
  useStore(rowNames.store, ({ answers }) => answers);
  const text = isExact ? rowNames.nameOf(name, row, start) : recording.name(name);
  const words =
    count > 1
      ? `${countText(count)} spans within ${durationText(length)}, the longest is ${text}`
      : [
          text,
          durationText(length),
          ...(((flags >> STATUS_SHIFT) & STATUS_MASK) === 2 ? ['error'] : []),
          ...((flags & UNFINISHED_BIT) !== 0 ? ['unfinished'] : []),
        ].join(' · ');
  return (
    <div class="tip" style={tipStyle(x, y)}>
      {words}
    </div>
  );
}

/** Left of the pointer on the right half of the page, and above it on the lower half. */
function tipStyle(x: number, y: number): Record<string, string> {
  const { innerWidth, innerHeight } = window;
  return {
    ...(x > innerWidth / 2 ? { right: `${innerWidth - x + 12}px` } : { left: `${x + 12}px` }),
    ...(y > innerHeight / 2 ? { top: `${y - 40}px` } : { top: `${y + 16}px` }),
  };
}
