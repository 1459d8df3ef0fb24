import { STATUS_MASK, STATUS_SHIFT, UNFINISHED_BIT } from '../../look/index/look-index.js';
import { useApp } from '../state/app.js';
import { countText, durationText } from './duration-text.js';
import type { Picture } from './picture.js';

export interface Tip {
  x: number;
  y: number;
  picture: Picture;
  box: number;
}

/** What lies under the pointer, in some words. */
export function BoxTip({ x, y, picture, box }: Tip) {
  const { recording } = useApp();
  const place = placeOfTip(x, y);
  const name = recording.name(picture.name[box]!);
  const length = durationText(picture.end[box]! - picture.start[box]!);
  const count = picture.count[box]!;
  const flags = picture.flags[box]!;
  const words =
    count > 1
      ? `${countText(count)} spans within ${length}, the longest is ${name}`
      : [
          name,
          length,
          ...(((flags >> STATUS_SHIFT) & STATUS_MASK) === 2 ? ['error'] : []),
          ...((flags & UNFINISHED_BIT) !== 0 ? ['unfinished'] : []),
        ].join(' · ');
  return (
    <div class="tip" style={place}>
      {words}
    </div>
  );
}

/** Left of the pointer on the right half of the page, and above it on the lower half. */
function placeOfTip(x: number, y: number): Record<string, string> {
  const { innerWidth, innerHeight } = window;
  return {
    ...(x > innerWidth / 2 ? { right: `${innerWidth - x + 12}px` } : { left: `${x + 12}px` }),
    ...(y > innerHeight / 2 ? { top: `${y - 40}px` } : { top: `${y + 16}px` }),
  };
}
