import type { LatencyHistogram } from '../../../index/latency-histogram.js';
import type { Group, Timeline } from '../../shape/report-shape.js';
import { LatencyAxis } from '../../measures/latency-axis.js';
import { countText, durationText, rateText } from '../../measures/units.js';
import { type Html, markup } from './html-text.js';

const WIDTH = 480;
const HEIGHT = 150;
const BOTTOM = 22;
const TOP = 16;
/** At most so many bars. */
const MAX_BARS = 80;
/** Bars in which latency doubles, if there is room. */
const PER_OCTAVE = 8;

/** Labels of ticks are narrower, also those at the edges, which lie on one side of their tick. */
const TICK_WIDTH = 72;

interface Bar {
  from: number;
  to: number;
  count: number;
}

function barsOf(histogram: LatencyHistogram): Bar[] {
  const octaves = Math.log2(Math.max(histogram.max, 2)) - Math.log2(Math.max(histogram.min, 1));
  const per = Math.max(1, Math.min(PER_OCTAVE, Math.floor(MAX_BARS / Math.max(octaves, 1))));
  const bars = new Map<number, Bar>();
  for (const { from, count } of histogram.buckets()) {
    const number = Math.floor(per * Math.log2(Math.max(from, 1)) + 1e-9);
    const bar = bars.get(number) ?? {
      from: 2 ** (number / per),
      to: 2 ** ((number + 1) / per),
      count: 0,
    };
    bar.count += count;
    bars.set(number, bar);
  }
  return [...bars.values()];
}

const fixed = (value: number): string => value.toFixed(1);

/** How many spans of a group took how long, with marks at its percentiles. */
export function latencyPicture({ p50, p95, p99 }: Group, histogram: LatencyHistogram): Html {
  const bars = barsOf(histogram);
  if (bars.length === 0) return markup``;
  const axis = new LatencyAxis(bars[0]!.from, bars.at(-1)!.to, WIDTH);
  const floor = HEIGHT - BOTTOM;
  const highest = Math.max(...bars.map(({ count }) => count));
  const rects = bars.map(({ from, to, count }) => {
    const height = Math.max(1, (count / highest) * (floor - TOP));
    const x = axis.at(from);
    const title = `${durationText(from)} to ${durationText(to)}: ${countText(count)}`;
    return markup`<rect
      class="bar"
      x="${fixed(x)}"
      y="${fixed(floor - height)}"
      width="${fixed(Math.max(1, axis.at(to) - x - 1))}"
      height="${fixed(height)}"
      ><title>${title}</title></rect
    >`;
  });
  const ticks = axis.ticks(TICK_WIDTH).map((tick) => {
    const x = axis.at(tick);
    const anchor = x < 20 ? 'start' : x > WIDTH - 20 ? 'end' : 'middle';
    return markup`<line
        class="axis"
        x1="${fixed(x)}"
        x2="${fixed(x)}"
        y1="${floor}"
        y2="${floor + 4}"
      /><text x="${fixed(x)}" y="${HEIGHT - 5}" text-anchor="${anchor}"
        >${durationText(tick)}</text
      >`;
  });
  let free = -Infinity;
  const marks = [
    { name: 'p50', at: p50 },
    { name: 'p95', at: p95 },
    { name: 'p99', at: p99 },
  ].map(({ name, at }) => {
    const x = axis.at(at);
    const line = markup`<line
      class="mark"
      x1="${fixed(x)}"
      x2="${fixed(x)}"
      y1="${TOP - 3}"
      y2="${floor}"
    />`;
    // Where two percentiles are close, only the first has its name.
    const isFree = x - free > 26;
    if (isFree) free = x;
    const anchor = x < 14 ? 'start' : x > WIDTH - 14 ? 'end' : 'middle';
    return isFree
      ? markup`${line}<text class="marked" x="${fixed(x)}" y="10" text-anchor="${anchor}"
            >${name}</text
          >`
      : line;
  });
  return markup`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Latency histogram">
    ${rects}
    <line class="axis" x1="0" x2="${WIDTH}" y1="${floor}" y2="${floor}" />
    ${ticks}${marks}
  </svg>`;
}

const STRIP_HEIGHT = 100;

/** Spans by the time of their start; the failed ones in another colour. */
export function stripPicture({ count, errors, width }: Timeline): Html {
  const most = Math.max(1, ...count);
  const bars = count.map((all, at) => {
    if (all === 0) return markup``;
    const failed = errors[at]!;
    const height = Math.max(1.5, (all / most) * STRIP_HEIGHT);
    const bad = failed === 0 ? 0 : Math.max(1.5, (failed / all) * height);
    const title = `${countText(all)}, ${rateText(all / (width / 1e9))}, ${countText(failed)} failed`;
    const badBar =
      bad === 0
        ? ''
        : markup`<rect
            class="badbar"
            x="${at}"
            y="${(STRIP_HEIGHT - bad).toFixed(1)}"
            width="0.9"
            height="${bad.toFixed(1)}"
          />`;
    return markup`<g
      ><title>${title}</title
      ><rect
        class="bar"
        x="${at}"
        y="${(STRIP_HEIGHT - height).toFixed(1)}"
        width="0.9"
        height="${height.toFixed(1)}"
      />${badBar}</g
    >`;
  });
  return markup`<svg
    viewBox="0 0 ${count.length} ${STRIP_HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="Spans over time"
  >
    <rect class="ground" width="${count.length}" height="${STRIP_HEIGHT}" />
    ${bars}
  </svg>`;
}
