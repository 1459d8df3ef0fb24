import { useEffect, useRef, useState } from 'preact/hooks';
import type { RecordingAnswer } from '../../../look/wire/answers.js';
import type { LatencyColumns, LatencyMeta } from '../../../look/wire/view-answers.js';
import { type Choice, FIND_TEXT, choiceFields, withDurations } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { tickText, utcText } from '../../time-line/axis-text.js';
import { canvasColours, textScale } from '../../theme/theme.js';
import { useLook } from '../../theme/use-look.js';
import { countText, durationText, shareText } from '../../../look/report/measures/units.js';
import { useAnswer } from '../../data/use-answer.js';
import { PERCENTILE_LINES } from '../../charts/percentile-lines.js';
import {
  countIn,
  drawLatencyMap,
  figuresOf,
  lineSums,
  orderedBrush,
  cellAt,
  rangesOf,
} from './latency-map.js';
import type { Brush, LatencyMap } from './latency-map.js';

const COLUMNS = 160;
const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

interface Cell {
  column: number;
  line: number;
}

/** Duration by time, and how often each duration occurs; a brushed part lists its spans. */
export function LatencyChart({ choice }: { choice: Choice }) {
  const app = useApp();
  const look = useLook();
  const asked = useAnswer<LatencyMap>(JSON.stringify(choice), async (signal) => {
    const fields = { ...choiceFields(choice), columns: COLUMNS };
    const { columns, meta } = await app.server.columns<LatencyColumns, LatencyMeta>(
      '/data/latency',
      fields,
      signal,
    );
    return { ...meta, ...columns };
  });
  const { words } = asked;
  const answer = words === '' ? asked.answer : undefined;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [brush, setBrush] = useState<{ from: Cell; to: Cell } | undefined>(undefined);
  const [pointed, point] = useState<number | undefined>(undefined);
  const [size, resize] = useState(0);
  const shown: Brush | undefined = brush && orderedBrush(brush.from, brush.to);

  useEffect(() => {
    const watch = new ResizeObserver(() => {
      resize((before) => before + 1);
    });
    watch.observe(canvas.current!);
    return () => {
      watch.disconnect();
    };
  }, []);
  useEffect(() => {
    const { current } = canvas;
    const context = current?.getContext('2d');
    if (current == null || context == null || answer === undefined) return;
    const { clientWidth, clientHeight } = current;
    const ratio = window.devicePixelRatio;
    const scale = textScale();
    current.width = Math.round(clientWidth * ratio);
    current.height = Math.round(clientHeight * ratio);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, 0, 0);
    const [width, height] = [clientWidth / scale, clientHeight / scale];
    drawLatencyMap(context, answer, shown, canvasColours(), width, height);
  }, [answer, brush, look, size]);

  const cellOf = (event: PointerEvent): Cell => {
    const { clientWidth, clientHeight } = canvas.current!;
    const [width, height, x, y] = [clientWidth, clientHeight, event.offsetX, event.offsetY].map(
      (pixels) => pixels / textScale(),
    ) as [number, number, number, number];
    return cellAt(answer!, width, height, x, y);
  };
  const choose = (chosen: Brush): void => {
    const { from, to, least, most } = rangesOf(answer!, chosen);
    const text = withDurations(choice.where, least, most);
    app.announce(`${countText(countIn(answer!, chosen))} spans chosen`);
    setBrush(undefined);
    app.navigate('find', { rangeFrom: from, rangeTo: to, parameters: { [FIND_TEXT]: text } });
  };
  const onKey = (event: KeyboardEvent): void => {
    const move = MOVES[event.key];
    if (answer === undefined) return;
    if (event.key === 'Enter' && shown !== undefined) choose(shown);
    else if (event.key === 'Escape') setBrush(undefined);
    else if (move === undefined) return;
    else {
      const last = brush?.to ?? { column: 0, line: 0 };
      const to = {
        column: Math.max(0, Math.min(answer.columns - 1, last.column + move[0])),
        line: Math.max(0, Math.min(answer.lines - 1, last.line + move[1])),
      };
      setBrush({ from: event.shiftKey && brush !== undefined ? brush.from : to, to });
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="latency-chart">
      {words !== '' && <p role="alert">{words}</p>}
      {answer !== undefined && <MapLegend map={answer} />}
      <canvas
        ref={canvas}
        class="latency-map"
        role="img"
        tabIndex={0}
        aria-label="Heat map: duration by time, darker where there are more spans, and a histogram"
        aria-describedby="latency-words"
        onKeyDown={onKey}
        onPointerDown={(event) => {
          if (answer === undefined) return;
          canvas.current!.setPointerCapture(event.pointerId);
          const at = cellOf(event);
          setBrush({ from: at, to: at });
        }}
        onPointerMove={(event) => {
          if (answer !== undefined) point(cellOf(event).column);
          if (event.buttons === 1 && brush !== undefined && answer !== undefined) {
            setBrush({ from: brush.from, to: cellOf(event) });
          }
        }}
        onPointerUp={() => {
          if (shown !== undefined) choose(shown);
        }}
        onPointerLeave={() => {
          point(undefined);
        }}
      />
      <p id="latency-words">{brushWords(answer, shown)}</p>
      <p class="quiet">{columnWords(app.recording.answer, answer, brush?.to.column ?? pointed)}</p>
    </div>
  );
}

function brushWords(map: LatencyMap | undefined, brush: Brush | undefined): string {
  if (map === undefined) return 'Reading …';
  if (brush === undefined) {
    return 'Drag over a part to choose its spans. With the keyboard: arrows, Shift and arrows, Enter.';
  }
  const { from, to, least, most } = rangesOf(map, brush);
  return (
    `${countText(countIn(map, brush))} spans of ${durationText(least)} to ${durationText(most)}, ` +
    `from ${durationText(from)} to ${durationText(to)}`
  );
}

/** The figures of a column, in words. */
function columnWords(
  recording: RecordingAnswer | undefined,
  map: LatencyMap | undefined,
  column: number | undefined,
): string {
  if (map === undefined || column === undefined || column >= map.columns) {
    return 'Point at a column for its percentiles and errors.';
  }
  const { from, to, columns, stretch } = map;
  const cell = (to - from) / columns;
  const begin = from + column * cell;
  const utc = recording && utcText(recording, begin);
  const at = `${tickText(begin, cell)}${utc === undefined ? '' : `, ${utc.slice(11)}`}: `;
  const { spans, errors, p50, p95, p99 } = figuresOf(map, column);
  const own =
    spans === 0
      ? 'no span'
      : `${countText(spans)} spans, ${countText(errors)} failed (${shareText(errors / spans)})`;
  if (p50 === 0) return `${at}${own}`;
  return (
    `${at}${own}; in the ${durationText(stretch * cell)} around it ` +
    `p50 ${durationText(p50)}, p95 ${durationText(p95)}, p99 ${durationText(p99)}`
  );
}

/** Explains the axes and the colours. */
function MapLegend({ map }: { map: LatencyMap }) {
  const { recording } = useApp();
  const begin = recording.answer && utcText(recording.answer, 0)?.slice(11);
  const { counts, columns, from, to } = map;
  const most = counts.reduce((max, count) => Math.max(max, count), 0);
  return (
    <p class="map-legend">
      <span>
        Up: duration, on a logarithmic scale. To the right: time since{' '}
        {begin ?? 'the start of the recording'}.
      </span>
      <span>
        1 <span class="shades" /> {countText(most)} spans a cell of{' '}
        {durationText((to - from) / columns)}
      </span>
      <span>
        Lines:{' '}
        {PERCENTILE_LINES.map(({ title, colour, width, dash }) => (
          <span key={title}>
            <span
              class="line"
              style={{
                borderTop: `${width}px ${dash.length > 0 ? 'dashed' : 'solid'} var(--${colour})`,
              }}
            />{' '}
            {title}{' '}
          </span>
        ))}
        of {durationText((map.stretch * (to - from)) / columns)} each. Below: the share that failed.
      </span>
      <span>
        Right edge: spans of each duration, at most {countText(Math.max(...lineSums(map)))}
      </span>
    </p>
  );
}
