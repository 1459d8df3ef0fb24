import {
  bytesText,
  durationText,
  rateText,
  shareText,
} from '../../../look/report/measures/units.js';
import { stallsIn, stallsText } from '../../../look/report/print/interruption-texts.js';
import type { Report, ThreadCurve } from '../../../look/report/shape/report-shape.js';
import { type Curve, CurveChart } from '../../charts/curve-chart.js';
import { PERCENTILE_LINES } from '../../charts/percentile-lines.js';

interface OverTimeProps {
  report: Report;
  /** Called with ns since the start of the report. */
  onRange?: ((from: number, to: number) => void) | undefined;
}

/** A limit is drawn where a heap has reached this part of it. */
const LEAST_OF_LIMIT = 0.25;

const COLOURS = ['curve', 'lit', 'quiet', 'collection', 'text', 'accent'] as const;

/** Ticks of bytes are KiB, MiB and GiB. */
const BYTE_STEPS = Array.from({ length: 45 }, (_, power) => 2 ** power);

/** How the recording went: requests, latency, failures, event loops, and heaps. */
export function OverTime({ report, onRange }: OverTimeProps) {
  const { timeline, interruptions, by } = report;
  const { count, errors, refused, loops, heaps } = timeline;
  const seconds = timeline.width / 1e9;
  const from = Date.parse(report.from) / 1000;
  const rate = (value: number): number => value / seconds;
  const what = by === 'route' ? 'Requests' : 'Spans';
  const common = {
    from,
    width: seconds,
    onRange:
      onRange &&
      ((begin: number, end: number): void => {
        onRange((begin - from) * 1e9, (end - from) * 1e9);
      }),
  };
  const areAny = count.some((each) => each > 0);
  const stalls = interruptions.longest.map(({ start, duration }) => ({
    at: Date.parse(start) / 1000,
    until: Date.parse(start) / 1000 + duration / 1e9,
  }));
  const others = count.map((all, piece) => all - errors[piece]! - refused[piece]!);
  const classes: Curve[] = [
    { title: 'succeeded', colour: 'curve', values: others.map(rate), isFilled: true },
    { title: '4xx', colour: 'lit', values: refused.map(rate) },
    { title: 'failed', colour: 'bad', values: errors.map(rate) },
  ];
  return (
    <div class="charts">
      {areAny && (
        <>
          <CurveChart
            {...common}
            title={`${what} a second`}
            text={rateText}
            curves={classes.filter(({ title, values }) => title !== '4xx' || values.some(Boolean))}
          />
          <CurveChart
            {...common}
            title="Latency"
            text={durationText}
            isLog
            curves={PERCENTILE_LINES.map((line) => ({ ...line, values: timeline[line.title] }))}
          />
          {errors.some((each) => each > 0) && (
            <CurveChart
              {...common}
              title="Share that failed"
              text={shareText}
              curves={[
                {
                  title: 'failed',
                  colour: 'bad',
                  values: count.map((all, piece) => (all === 0 ? null : errors[piece]! / all)),
                  isFilled: true,
                },
              ]}
            />
          )}
        </>
      )}
      {loops.length > 0 && (
        <CurveChart
          {...common}
          title={
            stalls.length === 0
              ? 'Event loop'
              : `Event loop; marked: ${stalls.length < stallsIn(interruptions) ? 'the longest ' : ''}${stallsText(stalls.length, interruptions)}`
          }
          text={shareText}
          marks={stalls}
          curves={threadCurves(loops)}
        />
      )}
      {heaps.length > 0 && (
        <CurveChart
          {...common}
          title="Heap"
          text={bytesText}
          steps={BYTE_STEPS}
          curves={[...threadCurves(heaps), ...limitCurve(heaps)]}
        />
      )}
    </div>
  );
}

/** The limit that a heap has come closest to; far from it, its curve would only flatten the others. */
function limitCurve(heaps: readonly ThreadCurve[]): Curve[] {
  const parts = heaps.map(({ limit, values }) =>
    limit === null ? 0 : Math.max(...values.map((value) => value ?? 0)) / limit,
  );
  const most = Math.max(...parts);
  const closest = heaps[parts.indexOf(most)];
  if (closest === undefined || most < LEAST_OF_LIMIT) return [];
  const values = closest.values.map(() => closest.limit);
  return [{ title: 'limit', colour: 'bad', values, dash: [4, 3] }];
}

function threadCurves(curves: readonly ThreadCurve[]): Curve[] {
  return curves.map(({ service, pid, thread, values }, at) => ({
    title: [service, pid, thread === 'main' ? null : thread]
      .filter((part) => part !== null)
      .join(' '),
    colour: COLOURS[at % COLOURS.length]!,
    values,
    isFilled: curves.length === 1,
  }));
}
