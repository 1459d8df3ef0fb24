import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { isoTime, timeText } from '../../look/report/measures/units.js';
import type { ReportTable } from '../../look/report/print/tables/report-table.js';
import { Link } from '../shell/links.js';
import { canvasColours, textScale } from '../theme/theme.js';
import { useLook } from '../theme/use-look.js';
import { FiguresTable } from './figures-table.js';

/** A line of a chart. */
export interface Curve {
  title: string;
  /** A custom property of colours.css without its dashes. */
  colour: 'curve' | 'accent' | 'bad' | 'lit' | 'quiet' | 'text' | 'collection';
  values: readonly (number | null)[];
  isFilled?: boolean;
  /** Pixels; default: 1.5. */
  width?: number;
  dash?: readonly number[];
}

/** Something that lasted, to be marked behind the lines; in s since 1970. */
export interface Mark {
  at: number;
  until: number;
}

interface CurveChartProps {
  title: string;
  curves: readonly Curve[];
  /** S since 1970 of the first piece, and of how long each is. */
  from: number;
  width: number;
  /** How a value is written. */
  text: (value: number) => string;
  /** A logarithmic axis: a value of 0 is not drawn. */
  isLog?: boolean;
  /** From tick to tick; default: round decimal numbers. */
  steps?: readonly number[];
  marks?: readonly Mark[];
  /** Called with s since 1970. */
  onRange?: ((from: number, to: number) => void) | undefined;
}

/** Pixels where texts have their usual size, as all of a chart. */
const HEIGHT = 110;
/** Half a label of the axis of times, which is around its tick. */
const HALF_LABEL = 28;
const HALF_LONG_LABEL = 42;
/** S: labels of a shorter time have fractions. */
const LONG = 5;
/** The column of a chart's table. */
const TIME = 'time';

/** Curves over time, with a table of the same beside them. A drag, or a click on a time of the table, chooses a range. */
export function CurveChart(props: CurveChartProps) {
  const { title, curves, from, width, text, onRange } = props;
  const look = useLook();
  const element = useRef<HTMLDivElement>(null);
  const [at, point] = useState<number | undefined>(undefined);
  const [isOpen, open] = useState(false);
  const key = JSON.stringify([curves, from, width, look]);
  useEffect(
    () => (element.current === null ? undefined : draw(element.current, props, point)),
    [key],
  );
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        {curves.map((curve) => {
          const value = at === undefined ? undefined : curve.values[at];
          return (
            <span key={curve.title}>
              <span class="swatch" style={{ backgroundColor: `var(--${curve.colour})` }} />
              {curve.title} {value == null ? '' : text(value)}
            </span>
          );
        })}
      </figcaption>
      <div ref={element} class="plot" aria-hidden="true" />
      <details
        onToggle={({ currentTarget }) => {
          open(currentTarget.open);
        }}
      >
        <summary aria-label={`${title} as a table`}>table</summary>
        {isOpen && (
          <div class="chart-table" tabIndex={0} role="region" aria-label={title}>
            <FiguresTable
              table={tableOf(props)}
              cell={(piece, column, words) =>
                column.title === TIME && onRange !== undefined ? (
                  <Link
                    title="Choose this time"
                    go={() => {
                      onRange(from + piece * width, from + (piece + 1) * width);
                    }}
                  >
                    {words}
                  </Link>
                ) : undefined
              }
            />
          </div>
        )}
      </details>
    </figure>
  );
}

/** `18:08:25`, with as many digits as there are. */
function timeOfDay(seconds: number): string {
  return timeText(isoTime(0n, Math.round(seconds * 1e3) * 1e6))
    .slice(11, 23)
    .replace(/\.?0+$/, (zeros) => (zeros.includes('.') ? '' : zeros));
}

/** The same as a table, with a row for each piece. */
function tableOf({ title, curves, from, width, text }: CurveChartProps): ReportTable<number> {
  return {
    title,
    columns: [
      {
        title: TIME,
        unit: 'text',
        value: (piece) => timeOfDay(from + piece * width),
        spare: 0,
      },
      ...curves.map(({ title: of, values }) => ({
        title: of,
        unit: 'change' as const,
        value: (piece: number) => {
          const value = values[piece];
          return value == null ? null : text(value);
        },
        spare: 0,
      })),
    ],
    rows: (curves[0]?.values ?? []).map((_, piece) => piece),
    more: 0,
    what: 'times',
  };
}

/** Powers of ten around values; from 1 to 10 without any. */
function decadesAround(least: number | null, most: number | null): [number, number] {
  const [from, to] = [Math.floor(Math.log10(least ?? 1)), Math.ceil(Math.log10(most ?? 10))];
  return [10 ** from, 10 ** Math.max(to, from + 1)];
}

function powersOfTen(least: number, most: number): number[] {
  const [from, to] = [Math.round(Math.log10(least)), Math.round(Math.log10(most))];
  return Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at));
}

/** Draws the chart. @returns what takes it away. */
function draw(
  element: HTMLDivElement,
  { curves, from, width, text, isLog = false, steps, marks = [], onRange }: CurveChartProps,
  point: (at: number | undefined) => void,
): () => void {
  const colours = canvasColours();
  const pieces = curves[0]?.values.length ?? 0;
  // Of lines the first lies above the others.
  const drawn = curves.some(({ isFilled }) => isFilled) ? curves : curves.toReversed();
  const times = Array.from({ length: pieces }, (_, piece) => from + (piece + 0.5) * width);
  const scale = textScale();
  const sizeOf = () => ({
    width: Math.max(120, element.clientWidth),
    height: Math.round(HEIGHT * scale),
  });
  const side = pieces * width < LONG ? HALF_LONG_LABEL : HALF_LABEL;
  const axis = {
    font: `${Math.round(12 * scale)}px system-ui, sans-serif`,
    stroke: colours.quiet,
    grid: { stroke: colours.line, width: 1 },
    ticks: { show: false },
  };
  const plot = new uPlot(
    {
      ...sizeOf(),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      padding: [8 * scale, side * scale, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: onRange !== undefined, y: false }, points: { size: 5 } },
      scales: {
        x: { min: from, max: from + pieces * width },
        y: isLog
          ? { distr: 3, range: (_, least, most) => decadesAround(least, most) }
          : { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 24 * scale,
          space: 80 * scale,
          values: (_, ticks) => ticks.map(timeOfDay),
        },
        {
          ...{
            ...axis,
            size: 62 * scale,
            space: 28 * scale,
            values: (_, values: readonly (number | null)[]) =>
              // Those of a logarithmic axis that have no room are null.
              values.map((value) => (value === null ? null : text(value))),
          },
          ...(steps === undefined ? {} : { incrs: [...steps] }),
          ...(isLog ? { splits: (_, __, least, most) => powersOfTen(least, most) } : {}),
        },
      ],
      series: [
        {},
        ...drawn.map(({ colour, isFilled = false, width: thickness = 1.5, dash = [] }) => ({
          stroke: colours[colour],
          width: thickness,
          points: { show: false },
          spanGaps: false,
          ...(isFilled ? { fill: `${colours[colour]}33` } : {}),
          dash: [...dash],
        })),
      ],
      hooks: {
        drawClear: [
          (self) => {
            const { left, top, height, width: all } = self.bbox;
            self.ctx.fillStyle = colours.stall;
            for (const { at, until } of marks) {
              const x = self.valToPos(at, 'x', true);
              const end = Math.min(left + all, Math.max(x + 2, self.valToPos(until, 'x', true)));
              if (x >= left && x < left + all) self.ctx.fillRect(x, top, end - x, height / 5);
            }
          },
        ],
        setCursor: [
          ({ cursor }) => {
            point(cursor.idx ?? undefined);
          },
        ],
        setSelect: [
          (self) => {
            const { left, width: wide } = self.select;
            if (wide > 2) onRange?.(self.posToVal(left, 'x'), self.posToVal(left + wide, 'x'));
          },
        ],
      },
    },
    [
      times,
      ...drawn.map(({ values }) => (isLog ? values.map((value) => value || null) : [...values])),
    ],
    element,
  );
  const sizes = new ResizeObserver(() => {
    plot.setSize(sizeOf());
  });
  sizes.observe(element);
  return () => {
    sizes.disconnect();
    plot.destroy();
  };
}
