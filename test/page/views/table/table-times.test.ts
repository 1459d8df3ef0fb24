import { describe, expect, it } from 'vitest';
import { noBrowser, titleOf } from '../../browser.js';
import { BEGIN, recordService } from '../../recorded-service.js';
import type { Planned } from '../../recorded-service.js';
import { ViewedTraces } from '../../viewed-traces.js';

/** After so many ms neighbours begin, by so many ms apart: as a request and what it does first. */
const LATE = 12 * 60_000;
const APART = 0.003;
const plan = Array.from({ length: 20 }, (_, at): Planned => {
  const start = at === 0 ? 0 : LATE + at * APART;
  return { name: `GET /${at}`, start, end: start + 1, status: 'unset', parent: undefined };
});
const traces = new ViewedTraces(async (directory) => [await recordService(directory, plan)]);

describe.skipIf(noBrowser !== undefined)(titleOf('times in the table'), () => {
  it('are those of the day, and tell neighbours apart to who points at them', async () => {
    const sorted = '/find?table.sort=start&table.order=ascending';
    const { page } = await traces.open({}, sorted);
    const rows = page.locator('#view-find .grid-body [role=row]');
    await rows.getByText('GET /12').waitFor();
    const starts = rows.locator('[role=gridcell]:first-child');
    const texts = await starts.allTextContents();
    expect(texts.length).toBeGreaterThan(12);
    expect(texts[1]).toBe(new Date(BEGIN + LATE).toISOString().slice(11, 23));
    // All of it is shown.
    const cut = await starts.evaluateAll(
      (cells) => cells.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length,
    );
    expect(cut).toBe(0);
    const exact = await starts.evaluateAll((cells) =>
      cells.map((cell) => cell.getAttribute('title')),
    );
    expect(new Set(exact).size).toBe(texts.length);
    expect(exact[1]).toBe('720.000003 s');
  });
});
