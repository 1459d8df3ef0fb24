import { describe, expect, it } from 'vitest';
import type { TimeLineCanvas } from '../../../src/page/time-line/picture.js';
import { STATUS_COLOURS } from '../../../src/page/theme/palette.js';
import { noBrowser, titleOf } from '../browser.js';
import { recordService } from '../recorded-service.js';
import type { Planned } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const SPANS = 6000;
/** The longest of each hundred fails; in the second half every other one. */
const plan = Array.from({ length: SPANS }, (_, at): Planned => {
  const fails = at < SPANS / 2 ? at % 100 === 50 : at % 2 === 0;
  const end = at + (fails ? 0.9 : 0.5);
  return { name: 'GET /a', start: at, end, status: fails ? 'error' : 'unset', parent: undefined };
});
const traces = new ViewedTraces(async (directory) => [await recordService(directory, plan)]);

interface Colours {
  ok: number;
  failed: number;
  marks: { left: number; right: number }[];
}

/** Runs in the browser: how many pixels of the boxes have each colour, and where the marks lie. */
function colours([ok, failed, from, to]: readonly (string | number)[]): Colours {
  const canvas = document.querySelector<TimeLineCanvas>('#time-line')!;
  const picture = canvas.picture!;
  const context = canvas.getContext('2d')!;
  const ratio = canvas.width / canvas.clientWidth;
  const left = picture.left[0]!;
  const all = Math.max(...picture.right.subarray(0, picture.size)) - left;
  const begin = left + Number(from) * all;
  const part = [begin, picture.top[0]!, (Number(to) - Number(from)) * all, picture.height[0]!];
  const [x, y, width, height] = part.map((each) => Math.round(each * ratio));
  const { data } = context.getImageData(x!, y!, width!, height!);
  const counts = {
    ok: 0,
    failed: 0,
    marks: picture.marks.map(({ left, right }) => ({ left, right })),
  };
  for (let at = 0; at < data.length; at += 4) {
    const colour = `#${[0, 1, 2].map((i) => data[at + i]!.toString(16).padStart(2, '0')).join('')}`;
    if (colour === ok) counts.ok += 1;
    if (colour === failed) counts.failed += 1;
  }
  return counts;
}

describe.skipIf(noBrowser !== undefined)(titleOf('boxes of many rows'), () => {
  it('show by status how many failed, and where', async () => {
    const { page, boxes } = await traces.open({}, '/time-line?colour=status');
    const drawn = await boxes();
    expect(Math.max(...drawn.map(({ count }) => count))).toBeGreaterThan(50);
    const [ok, , failed] = STATUS_COLOURS;
    const shown = await page.evaluate(colours, [ok, failed, 0, 0.45]);
    expect(shown.ok).toBeGreaterThan(1000);
    // A small box at the end of a cell may show one of its few rows.
    expect(shown.failed).toBeLessThan(shown.ok / 100);
    const half = await page.evaluate(colours, [ok, failed, 0.55, 1]);
    // The marks lie upon some of it.
    expect(half.failed / (half.ok + half.failed)).toBeGreaterThan(0.3);
    expect(half.failed / (half.ok + half.failed)).toBeLessThan(0.6);

    const [first, last] = [drawn[0]!.left, Math.max(...drawn.map(({ right }) => right))];
    const pixelOf = (ms: number): number => first + (ms / (SPANS - 0.5)) * (last - first);
    const failures = plan.filter(({ start, status }) => status === 'error' && start < SPANS / 2);
    for (const [i, { start }] of failures.entries()) {
      // A pixel of the server is up to one and a half of the screen.
      const { left, right } = shown.marks[i]!;
      expect(pixelOf(start)).toBeGreaterThan(left - 1);
      expect(pixelOf(start)).toBeLessThan(right + 1);
      expect(right - left).toBeLessThanOrEqual(3);
    }
  });
});
