import type { App } from '../state/app.js';
import { timeOf } from './collect-boxes.js';
import { clearRange, pan, showWindow, zoom } from './navigation.js';
import type { TimeLine } from './time-line.js';

/** Pixels that a pointer may move and still click. */
const CLICK = 4;

interface Point {
  x: number;
  y: number;
}

interface PointerEvents {
  /** A box was clicked, or nothing (-1). */
  onClick(box: number): void;
  /** The pointer is over a box, or none (-1). */
  onHover(box: number, point: Point): void;
}

/**
 * Wheel: zoom; with shift, or over the names of tracks: scroll; sideways: pan. Drag: pan and scroll;
 * with shift: select a range. Two fingers: zoom and pan.
 *
 * @returns what ends it.
 */
export function listenToPointers(
  canvas: HTMLCanvasElement,
  timeLine: TimeLine,
  app: App,
  events: PointerEvents,
): () => void {
  const pointers = new Map<number, Point>();
  let first: Point = { x: 0, y: 0 };
  let moved = false;
  let rangeStart: number | undefined;

  const pointOf = (event: MouseEvent): Point => {
    const { left, top } = canvas.getBoundingClientRect();
    const { pixel } = timeLine;
    return { x: (event.clientX - left) / pixel, y: (event.clientY - top) / pixel };
  };

  function onWheel(event: WheelEvent): void {
    event.preventDefault();
    const { x } = pointOf(event);
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const [sideways, down] = [event.deltaX * unit, event.deltaY * unit];
    const scrolls = (event.shiftKey || x < timeLine.gutter) && !event.ctrlKey;
    if (scrolls) timeLine.scrollBy(down === 0 ? sideways : down);
    else if (Math.abs(sideways) > Math.abs(down)) pan(app, sideways / timeLine.scale.width);
    // A pinch on a touch pad arrives as a wheel with the control key and small steps.
    else zoom(app, Math.exp(down * (event.ctrlKey ? 0.01 : 0.0015)), timeOf(timeLine.scale, x));
  }

  function onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    first = pointOf(event);
    pointers.set(event.pointerId, first);
    moved = false;
    rangeStart =
      event.shiftKey && pointers.size === 1 ? timeOf(timeLine.scale, first.x) : undefined;
  }

  function onMove(event: PointerEvent): void {
    const point = pointOf(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      events.onHover(timeLine.boxAt(point.x, point.y), point);
      return;
    }
    if (Math.hypot(point.x - first.x, point.y - first.y) > CLICK) moved = true;
    if (!moved) return;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, point);
    events.onHover(-1, point);
    if (other !== undefined) pinch(before, point, other);
    else if (rangeStart !== undefined) selectRange(rangeStart, timeOf(timeLine.scale, point.x));
    else {
      pan(app, (before.x - point.x) / timeLine.scale.width);
      timeLine.scrollBy(before.y - point.y);
    }
  }

  function selectRange(a: number, b: number): void {
    if (a !== b) app.view.set({ rangeFrom: Math.min(a, b), rangeTo: Math.max(a, b) });
  }

  /** Both fingers keep the times that they touch. */
  function pinch(before: Point, now: Point, other: Point): void {
    const { scale } = timeLine;
    const [moving, resting] = [timeOf(scale, before.x), timeOf(scale, other.x)];
    if (Math.abs(now.x - other.x) < 8 || Math.abs(before.x - other.x) < 8) return;
    const perPixel = (moving - resting) / (now.x - other.x);
    if (!(perPixel > 0)) return;
    const from = resting - (other.x - scale.left) * perPixel;
    showWindow(app, from, from + scale.width * perPixel);
  }

  function onUp(event: PointerEvent): void {
    if (!pointers.delete(event.pointerId) || pointers.size > 0) return;
    if (event.type === 'pointerup' && !moved) {
      const { x, y } = pointOf(event);
      if (!timeLine.toggleAt(x, y)) events.onClick(timeLine.boxAt(x, y));
      if (rangeStart !== undefined) clearRange(app);
    }
    rangeStart = undefined;
  }

  function onLeave(event: PointerEvent): void {
    events.onHover(-1, pointOf(event));
  }

  const ending = new AbortController();
  const { signal } = ending;
  canvas.addEventListener('wheel', onWheel, { passive: false, signal });
  canvas.addEventListener('pointerdown', onDown, { signal });
  canvas.addEventListener('pointermove', onMove, { signal });
  canvas.addEventListener('pointerup', onUp, { signal });
  canvas.addEventListener('pointercancel', onUp, { signal });
  canvas.addEventListener('pointerleave', onLeave, { signal });
  return () => {
    ending.abort();
  };
}
