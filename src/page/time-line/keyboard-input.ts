import type { App } from '../state/app.js';
import { clearRange, pan, showAll, zoom } from './navigation.js';
import { selectedBox } from './draw-boxes.js';
import { shownWindow } from './time-line.js';
import type { TimeLine } from './time-line.js';

/** Windows a second that a held key moves, and by which factor it zooms. */
const PAN_SPEED = 0.9;
const ZOOM_SPEED = 6;
const SCROLL_SPEED = 500;

/** Actions of held keys, in so many seconds. */
const HELD: Readonly<Record<string, (app: App, timeLine: TimeLine, seconds: number) => void>> = {
  w: (app, _, seconds) => {
    zoom(app, ZOOM_SPEED ** -seconds, middleOf(app));
  },
  s: (app, _, seconds) => {
    zoom(app, ZOOM_SPEED ** seconds, middleOf(app));
  },
  a: (app, _, seconds) => {
    pan(app, -PAN_SPEED * seconds);
  },
  d: (app, _, seconds) => {
    pan(app, PAN_SPEED * seconds);
  },
  ArrowLeft: (app, _, seconds) => {
    pan(app, -PAN_SPEED * seconds);
  },
  ArrowRight: (app, _, seconds) => {
    pan(app, PAN_SPEED * seconds);
  },
  ArrowUp: (_, timeLine, seconds) => {
    timeLine.scrollBy(-SCROLL_SPEED * seconds);
  },
  ArrowDown: (_, timeLine, seconds) => {
    timeLine.scrollBy(SCROLL_SPEED * seconds);
  },
};

function middleOf(app: App): number {
  const { from, to } = shownWindow(app);
  return (from + to) / 2;
}

/** A press that is over within a frame still moves this much, in seconds. */
const TAP = 0.06;

/**
 * Keys of the time line. Shift with an arrow selects the next box of the lane, or of another lane.
 *
 * @param select called with the box to select.
 * @returns what ends it.
 */
export function listenToKeys(
  canvas: HTMLCanvasElement,
  timeLine: TimeLine,
  app: App,
  select: (box: number) => void,
): () => void {
  const held = new Set<string>();
  let frame = 0;
  let last = 0;

  function step(now: number): void {
    const seconds = Math.min(0.1, (now - last) / 1000);
    last = now;
    for (const key of held) HELD[key]?.(app, timeLine, seconds);
    frame = held.size === 0 ? 0 : requestAnimationFrame(step);
  }

  function onDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.shiftKey && key.startsWith('Arrow')) {
      event.preventDefault();
      const box = neighbourOf(timeLine, key);
      if (box >= 0) select(box);
      return;
    }
    if (key === 'f') showAll(app);
    if (key === 'Escape') clearRange(app);
    if (key === 'o') timeLine.toggleLanes();
    const action = HELD[key];
    if (action === undefined) return;
    event.preventDefault();
    if (held.has(key)) return;
    held.add(key);
    action(app, timeLine, TAP);
    if (frame === 0) {
      last = performance.now();
      frame = requestAnimationFrame(step);
    }
  }

  function onUp(event: KeyboardEvent): void {
    held.delete(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  }

  function release(): void {
    held.clear();
  }

  const ending = new AbortController();
  const { signal } = ending;
  canvas.addEventListener('keydown', onDown, { signal });
  canvas.addEventListener('keyup', onUp, { signal });
  canvas.addEventListener('blur', release, { signal });
  return () => {
    ending.abort();
    cancelAnimationFrame(frame);
  };
}

/** The box next to the selected one in a direction; without a selection the first box. */
function neighbourOf({ picture, selected }: TimeLine, key: string): number {
  const at = selectedBox(picture, selected);
  if (at < 0) return picture.size > 0 ? 0 : -1;
  const middle = (picture.left[at]! + picture.right[at]!) / 2;
  const sideways = key === 'ArrowLeft' || key === 'ArrowRight';
  const sign = key === 'ArrowLeft' || key === 'ArrowUp' ? -1 : 1;
  let best = -1;
  let nearest = Infinity;
  for (let box = 0; box < picture.size; box++) {
    const rise = (picture.top[box]! - picture.top[at]!) * sign;
    const off = Math.max(0, picture.left[box]! - middle, middle - picture.right[box]!);
    const ahead = (picture.left[box]! - picture.left[at]!) * sign;
    if (sideways ? rise !== 0 || ahead <= 0 : rise <= 0) continue;
    const distance = sideways ? ahead : rise * 10_000 + off;
    if (distance < nearest) [best, nearest] = [box, distance];
  }
  return best;
}
