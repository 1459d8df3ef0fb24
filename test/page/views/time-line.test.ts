import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { TimeLineCanvas } from '../../../src/page/time-line/picture.js';
import { linesOf } from '../../../src/page/time-line/lines.js';
import { shownProcesses } from '../../../src/page/time-line/shown-processes.js';
import type { ViewState } from '../../../src/page/shell/address.js';
import type { RecordingAnswer } from '../../../src/look/wire/answers.js';
import { service } from '../../look/report/handmade-service.js';
import { Served } from '../../look/server/served.js';
import { axeFindings } from '../accessibility.js';
import { noBrowser, titleOf } from '../browser.js';
import { ViewedTraces } from '../viewed-traces.js';

/** A second of a loop that was busy for half of it, and a request. */
function shop(name: string): string {
  const loops = [0, 1000].map((from) => ({
    at: [from, from + 1000] as [number, number],
    figures: { busy: 500_000_000, waiting: 500_000_000 },
  }));
  return service(name, [{ id: 1n, name: `GET /${name}`, at: [100, 400] }], undefined, loops);
}

const paths = ['shop', 'stock', 'mailer'].map(shop);
const traces = new ViewedTraces(() => paths);

async function linesFor(parameters: Record<string, string>): Promise<string[]> {
  const served = await Served.of(...paths);
  const recording = await served.json<RecordingAnswer>('/data/recording');
  await served.close();
  const shown = shownProcesses({ parameters } as unknown as ViewState, recording);
  return linesOf(recording, shown, 1000, 8, new Set()).map(({ kind, text }) => `${kind} ${text}`);
}

describe('the lines of the time line', () => {
  it('are spans first, and curves when they are asked for', async () => {
    const plain = await linesFor({});
    const kinds = plain.map((line) => line.slice(0, line.indexOf(' ')));
    expect(kinds).toEqual(['head', 'track', 'head', 'track', 'head', 'track']);
    const all = await linesFor({ 'time-line.curves': 'yes' });
    expect(all.findIndex((line) => line.startsWith('curve'))).toBe(2);
    expect(all.length).toBeGreaterThan(plain.length);
  });

  it('are one of load for a folded process; pinned ones come first, hidden ones not at all', async () => {
    const lines = await linesFor({
      'time-line.folded': '1',
      'time-line.pinned': '2',
      'services.off': 'shop',
    });
    expect(lines).toEqual([
      expect.stringMatching(/^head ★ mailer/),
      expect.stringMatching(/^track /),
      expect.stringMatching(/^head stock/),
      expect.stringMatching(/^curve event loop utilisation/),
    ]);
  });
});

/** Runs in the browser: how many tracks have boxes. */
function tracksOfPage(): number {
  const { picture } = document.querySelector<TimeLineCanvas>('#time-line')!;
  return new Set(picture!.track.subarray(0, picture!.size)).size;
}

async function expectTracks(page: Page, count: number): Promise<void> {
  await expect.poll(() => page.evaluate(tracksOfPage)).toBe(count);
}

describe.skipIf(noBrowser !== undefined)(titleOf('the time line'), () => {
  it('folds processes by keyboard, and its address keeps them', async () => {
    const { page, complaints } = await traces.open({}, '/time-line');
    await expectTracks(page, 3);
    // A list of hundreds costs nothing until one opens it.
    expect(await page.locator('.processes tr').count()).toBe(0);
    await page.getByText('Processes', { exact: true }).click();
    await page.getByLabel('stock folded').focus();
    await page.keyboard.press('Space');
    await expectTracks(page, 2);
    await page.waitForURL(/time-line\.folded=\d/);
    await page.reload();
    await page.waitForFunction(() => document.querySelector('#time-line') !== null);
    await expectTracks(page, 2);
    expect(complaints).toEqual([]);
  });

  it.each([
    ['light', 800, 600],
    ['dark', 2560, 1300],
  ] as const)('has nothing against axe-core, %s, %d pixels wide', async (theme, width, height) => {
    const { page } = await traces.open({ width, height, dark: theme === 'dark' }, '/time-line');
    await page.getByText('Processes', { exact: true }).click();
    expect(await axeFindings(page)).toEqual([]);
  });
});
