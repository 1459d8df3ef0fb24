import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { openTrace } from '../../src/heph/index.js';
import type { TimeLineCanvas } from '../../src/page/time-line/picture.js';
import { configure, flush, shutdown, startSpan } from '../../src/spans/index.js';
import { noBrowser, titleOf } from './browser.js';
import { holdKey, selectFirstMatch } from './open-page.js';
import { ViewedTraces } from './viewed-traces.js';

const traces = new ViewedTraces(() => []);
afterEach(shutdown);

/** Begins a recording of its own, so that a test that is run again finds nothing of the last time. */
function begin(): { path: string; first: string } {
  const directory = mkdtempSync(join(traces.directory, 'run-'));
  const path = join(directory, 'live.heph');
  configure({ target: path, service: 'live' });
  return { path, first: join(directory, 'first.heph') };
}

async function record(spans: number, name = 'turn'): Promise<void> {
  for (let span = 0; span < spans; span++) startSpan(name, { span }).end();
  await flush();
}

/** The fields of the URL, once it has followed the view: after 250 ms of the page's own time without a change. */
async function fieldsOf(page: Page): Promise<URLSearchParams> {
  const hash = await page.evaluate(async () => {
    for (;;) {
      const before = location.hash;
      await new Promise((resolve) => setTimeout(resolve, 350));
      if (location.hash === before) return before;
    }
  });
  return new URLSearchParams(hash.split('?')[1]);
}

/** Times of the last box that is drawn, in ns. */
function lastEnd(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { picture } = document.querySelector<TimeLineCanvas>('#time-line')!;
    return picture!.end.subarray(0, picture!.size).reduce((last, end) => Math.max(last, end), 0);
  });
}

describe.skipIf(noBrowser !== undefined)(titleOf('a live recording'), () => {
  it('grows while it is watched; a window of it slides, is paused, and follows again', async () => {
    const { path } = begin();
    await record(100);
    const view = await traces.start([path], '--live');
    const { page } = await traces.open({}, '/time-line', view);
    await page.getByText('100 records').waitFor();
    await record(150);
    await page.getByText('250 records').waitFor();

    await page.locator('#time-line').focus();
    await holdKey(page, 'w');
    const size = (fields: URLSearchParams): number =>
      Number(fields.get('to')) - Number(fields.get('from'));
    const near = await fieldsOf(page);
    expect(near.get('follow')).toBeNull();
    const before = await lastEnd(page);
    await record(50);
    await page.getByText('300 records').waitFor();
    await page.waitForFunction((end) => {
      const { picture } = document.querySelector<TimeLineCanvas>('#time-line')!;
      return picture!.end.subarray(0, picture!.size).some((each) => each > end);
    }, before);
    expect(size(await fieldsOf(page))).toBeCloseTo(size(near), 0);

    await page.getByRole('button', { name: 'Pause' }).click();
    const paused = await fieldsOf(page);
    expect(paused.get('follow')).toBe('no');
    expect(size(paused)).toBeCloseTo(size(near), 0);
    await record(50);
    await page.getByText('350 records').waitFor();
    expect((await fieldsOf(page)).toString()).toBe(paused.toString());
    await page.locator('#time-line').focus();
    await holdKey(page, 'a');
    const back = await fieldsOf(page);
    expect(Number(back.get('to'))).toBeLessThan(Number(paused.get('to')));

    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const end = await lastEnd(page);
    await record(50);
    await page.getByText('400 records').waitFor();
    await expect.poll(() => lastEnd(page)).toBeGreaterThan(end);
  });

  it('keeps the selected span when a refresh renumbers the rows', async () => {
    const { path, first } = begin();
    const trace = openTrace(first);
    const stream = trace.stream();
    const log = async (events: number): Promise<void> => {
      for (let i = 0; i < events; i++) stream.finishTrace(stream.startTrace(), 'earlier');
      await trace.flush();
    };
    await log(10);
    const selected = startSpan('selected');
    await new Promise((resolve) => setTimeout(resolve, 50));
    selected.end();
    await record(20, 'later');
    const view = await traces.start([first, path], '--live');
    const { page, boxes } = await traces.open({}, '/find', view);
    await selectFirstMatch(page, 'selected');
    const before = await fieldsOf(page);
    const details = await page.locator('#details').innerText();
    await log(30);
    await record(10, 'later');
    await page.waitForFunction((row) => {
      const now = new URLSearchParams(location.hash.split('?')[1]).get('row');
      return now !== null && now !== row;
    }, before.get('row'));
    const after = await fieldsOf(page);
    expect(Number(after.get('row'))).toBe(Number(before.get('row')) + 30);
    expect(after.get('key')).toBe(before.get('key'));
    await expect.poll(() => page.locator('#details').innerText()).toBe(details);
    await expect
      .poll(async () => (await boxes()).map(({ row }) => row))
      .toContain(Number(after.get('row')));
    await trace.close();
  });
});
