import { useEffect, useRef, useState } from 'preact/hooks';
import { countText, durationText } from '../../../look/report/measures/units.js';
import type { ColourBy } from '../../shell/address.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { BoxTip, tipOf } from '../../time-line/box-tip.js';
import type { Tip } from '../../time-line/box-tip.js';
import { listenToKeys } from '../../time-line/keyboard-input.js';
import { listenToPointers } from '../../time-line/pointer-input.js';
import { showAll } from '../../time-line/navigation.js';
import { OverviewStrip } from '../../time-line/overview-strip.js';
import { TimeLine } from '../../time-line/time-line.js';
import { Details } from './details.js';
import { Legend } from './legend.js';
import { ProcessList } from './process-list.js';

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
      const { picture } = timeLine;
      const { row, start, samples } = picture;
      const isSample = box >= 0 && samples[box]! > 0;
      app.sample.set({ selected: isSample ? tipOf(picture, box, 0, 0) : undefined });
      if (box < 0 || isSample) {
        app.view.set({ row: undefined, key: undefined });
        return;
      }
      const key = picture.isExact(box) ? String(start[box]) : undefined;
      app.view.set({ row: row[box]!, key });
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
    const revealFirst = ({ answer }: typeof app.selected.store.value): void => {
      if (answer !== undefined) timeLine.reveal(answer.track, answer.lane);
    };
    // What another view has selected is shown.
    revealFirst(app.selected.store.value);
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
    <>
      <TimeLineBar />
      <div class="with-side">
        <div class="lines-side">
          <OverviewStrip />
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
        </div>
        <aside class="details-side" id="details" aria-label="Details" tabIndex={0}>
          <Details />
        </aside>
      </div>
    </>
  );
}

/** What the time line shows, and how. */
function TimeLineBar() {
  const app = useApp();
  const colour = useStore(app.view, (state) => state.colour);
  const answer = useStore(app.recording.store, (state) => state.answer);
  const from = useStore(app.view, (state) => state.from);
  const to = useStore(app.view, (state) => state.to);
  return (
    <div class="bar">
      <span class="what">
        {answer !== undefined &&
          `${countText(answer.rows)} records, ${durationText(answer.length)}; ${shownText(answer.length, from, to)}`}
      </span>
      <button
        type="button"
        onClick={() => {
          showAll(app);
        }}
      >
        Fit
      </button>
      <label>
        Colour by{' '}
        <select
          value={colour}
          onChange={({ currentTarget: { value } }) => {
            app.view.set({ colour: value as ColourBy });
          }}
        >
          {['name', 'status', 'service'].map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      </label>
      {answer !== undefined && <ProcessList answer={answer} />}
      <Legend />
    </div>
  );
}

/** How much of the recording a window shows. */
function shownText(length: number, from = 0, to = length): string {
  if (from <= 0 && to >= length) return 'all shown';
  return `${durationText(to - from)} shown`;
}
