import { useEffect, useRef, useState } from 'preact/hooks';
import { useApp } from '../state/app.js';
import { BoxTip, tipOf } from './box-tip.js';
import type { Tip } from './box-tip.js';
import { listenToKeys } from './keyboard-input.js';
import { listenToPointers } from './pointer-input.js';
import { TimeLine } from './time-line.js';

/** The tracks of the recording. */
export function TimeLineView() {
  const app = useApp();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [tip, setTip] = useState<Tip | undefined>(undefined);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const timeLine = new TimeLine(element, app);
    const select = (box: number): void => {
      if (box < 0) {
        app.view.set({ row: undefined, key: undefined });
        return;
      }
      const { picture } = timeLine;
      const { row, start } = picture;
      const key = picture.isExact(box) ? String(start[box]) : undefined;
      app.view.set({ row: row[box]!, key, panel: 'details' });
    };
    const endPointers = listenToPointers(element, timeLine, app, {
      onClick: select,
      onHover(box, { x, y }) {
        const { picture, pixel } = timeLine;
        setTip(box < 0 ? undefined : tipOf(picture, box, x * pixel, y * pixel));
      },
    });
    const endKeys = listenToKeys(element, timeLine, app, select);
    const reveal = (event: Event): void => {
      const { track, lane } = (event as CustomEvent<{ track: number; lane: number }>).detail;
      timeLine.reveal(track, lane);
    };
    element.addEventListener('reveal', reveal);
    const hideTip = (): void => {
      setTip(undefined);
    };
    // The box may be elsewhere then, or the pointer over something else, without a move of it.
    const ends = [app.view.watch(hideTip), app.recording.store.watch(hideTip)];
    const ending = new AbortController();
    const { signal } = ending;
    for (const event of ['blur', 'resize']) window.addEventListener(event, hideTip, { signal });
    for (const event of ['wheel', 'keydown'])
      element.addEventListener(event, hideTip, { signal, passive: true });
    document.documentElement.addEventListener('pointerleave', hideTip, { signal });
    return () => {
      for (const end of ends) end();
      ending.abort();
      endPointers();
      endKeys();
      element.removeEventListener('reveal', reveal);
      timeLine.end();
    };
  }, [app]);
  return (
    <div class="time-line">
      <canvas
        ref={canvas}
        id="time-line"
        tabIndex={0}
        role="application"
        aria-label="Time line. Press w, s to zoom, a, d to move, shift and an arrow to select, question mark for help."
      />
      {tip !== undefined && <BoxTip {...tip} />}
    </div>
  );
}
