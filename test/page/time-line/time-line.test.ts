import { describe, expect, it } from 'vitest';
import { AssignedColours, PALETTE } from '../../../src/page/theme/palette.js';
import { noBrowser, titleOf } from '../browser.js';
import type { DrawnBox, OpenPage, PageOptions } from '../open-page.js';
import { planOf, recordService } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const REQUESTS = 200;
/** The last request begins at 1,990 ms and takes 8 ms. */
const LENGTH = 1998;
const plan = planOf(REQUESTS);
/** Most begin with wide letters: as many letters as fit on average would not fit. */
const WIDE_NAMES = [
  ...['W'.repeat(40), '注文一覧を取得する処理', '👩‍👩‍👧🇩🇪🚀'.repeat(6), 'i'].map(
    (letters) => letters + '.'.repeat(90),
  ),
  'n'.repeat(9),
];
let widePath: string;
const traces = new ViewedTraces(async (directory) => {
  const wide = WIDE_NAMES.map((name, place) => {
    const start = place * 20;
    return { name, start, end: start + 10, status: 'unset', parent: undefined } as const;
  });
  widePath = await recordService(directory, wide, { service: 'wide' });
  return [await recordService(directory, plan)];
});
let opened: OpenPage;

async function open(options?: PageOptions, fragment = '/time-line'): Promise<OpenPage> {
  return (opened = await traces.open(options, fragment));
}

/** A window in ms as the URL has it. */
function windowOf(from: number, to: number): string {
  return `/time-line?from=${from * 1e6}&to=${to * 1e6}`;
}

/** The window that the URL has, in ms. */
async function shownWindow({ page }: OpenPage): Promise<{ from: number; to: number }> {
  // In the page's own time: the URL follows after 250 ms of it, however slow the machine is.
  const hash = await page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        setTimeout(() => {
          resolve(location.hash);
        }, 350);
      }),
  );
  const fields = new URLSearchParams(hash.split('?')[1]);
  return { from: Number(fields.get('from')) / 1e6, to: Number(fields.get('to')) / 1e6 };
}

const middleOf = ({ left, right, top, height }: DrawnBox): [number, number] => [
  (left + right) / 2,
  top + height / 2,
];

/** Runs in the browser. @returns how many pixels of a part of the time line are as dark as text. */
function darkPixels([left, right, top, bottom]: readonly number[]): number {
  const canvas = document.querySelector<HTMLCanvasElement>('#time-line')!;
  const ratio = canvas.width / canvas.clientWidth;
  const part = [left!, top!, right! - left!, bottom! - top!].map((each) =>
    Math.round(each * ratio),
  );
  const [x, y, width, height] = part as [number, number, number, number];
  const { data } = canvas.getContext('2d')!.getImageData(x, y, width, height);
  let dark = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at]! + data[at + 1]! + data[at + 2]! < 380) dark += 1;
  }
  return dark;
}

describe.skipIf(noBrowser !== undefined)(titleOf('the time line'), () => {
  it('shows every row once, in boxes that count what they merge', async () => {
    const { boxes, complaints } = await open();
    const drawn = await boxes();
    expect(drawn.reduce((sum, { count }) => sum + count, 0)).toBe(plan.length);
    expect(complaints).toEqual([]);
  });

  it('draws each span where and as long as it was, in the colour of its name', async () => {
    const { boxes, colourAt, page } = await open({}, windowOf(100, 200));
    await page.waitForFunction(() => !document.querySelector('.tip'));
    const drawn = await boxes();
    const canvas = await page.locator('#time-line').boundingBox();
    const gutter = Math.min(200, Math.round(canvas!.width * 0.2));
    const pixel = 100 / (canvas!.width - gutter);
    // Of as many spans each: by name.
    const colours = new AssignedColours([
      'SELECT orders',
      'parse',
      'GET /stock',
      'GET /orders/:id',
    ]);
    let compared = 0;
    for (const { name, start, end } of plan) {
      if (start < 100 || end > 200) continue;
      const left = gutter + (start - 100) / pixel;
      const box = drawn.find(
        (each) =>
          Math.abs(each.left - left) <= 1 &&
          Math.abs(each.right - left - (end - start) / pixel) <= 1,
      );
      expect(box, `${name} from ${start}`).toBeDefined();
      // Above the text.
      expect(await colourAt(box!.left + 2, box!.top)).toBe(colours.of(name));
      compared += 1;
    }
    expect(compared).toBe(30);
  });

  it('keeps labels within their boxes, however wide their letters are', async () => {
    const view = await traces.start([widePath]);
    opened = await traces.open({}, windowOf(-10, 110), view);
    await expectLabelsWithinBoxes();
    // So little room that there is none for an ellipsis.
    for (const width of [280, 330, 400]) {
      await opened.page.evaluate((hash) => (location.hash = hash), windowOf(-10, width));
      await opened.page.waitForTimeout(300);
      await expectLabelsWithinBoxes();
    }
  });

  async function expectLabelsWithinBoxes(): Promise<void> {
    const drawn = await opened.boxes();
    expect(drawn).toHaveLength(WIDE_NAMES.length);
    let within = 0;
    for (const { left, right, top, height } of drawn) {
      const y = [top, top + height];
      within += await opened.page.evaluate(darkPixels, [left, right - 1, ...y]);
      const after = [right, right + (right - left) / 2, ...y];
      expect(await opened.page.evaluate(darkPixels, after)).toBe(0);
    }
    expect(within).toBeGreaterThan(0);
  }

  it('gives each frequent name a colour of its own, and each of the others one always', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
    const colours = new AssignedColours(names);
    const frequent = names.slice(0, PALETTE.length).map((name) => colours.of(name));
    expect(new Set(frequent)).toEqual(new Set(PALETTE));
    for (const name of names.slice(PALETTE.length)) {
      expect(colours.of(name)).toBe(new AssignedColours([]).of(name));
    }
  });

  it('zooms and moves with the keys, and fits', async () => {
    const { page } = await open();
    await page.locator('#time-line').focus();
    await page.keyboard.press('w', { delay: 400 });
    const near = await shownWindow(opened);
    expect(near.to - near.from).toBeLessThan(0.7 * LENGTH);
    await page.keyboard.press('d', { delay: 200 });
    const later = await shownWindow(opened);
    expect(later.from).toBeGreaterThan(near.from);
    expect(later.to - later.from).toBeCloseTo(near.to - near.from, 3);
    await page.keyboard.press('ArrowLeft', { delay: 200 });
    expect((await shownWindow(opened)).from).toBeLessThan(later.from);
    await page.keyboard.press('s', { delay: 200 });
    const far = await shownWindow(opened);
    expect(far.to - far.from).toBeGreaterThan(near.to - near.from);
    await page.keyboard.press('f');
    expect(await shownWindow(opened)).toEqual({ from: 0, to: 0 });
    expect(new URL(page.url()).hash).not.toContain('from');
  });

  it('zooms with the wheel around the pointer, and moves with a drag', async () => {
    const { page } = await open({}, windowOf(500, 1500));
    const { x, y, width } = (await page.locator('#time-line').boundingBox())!;
    const gutter = Math.min(200, Math.round(width * 0.2));
    await page.mouse.move(x + gutter + (width - gutter) / 4, y + 100);
    for (let turn = 0; turn < 5; turn++) await page.mouse.wheel(0, -200);
    const near = await shownWindow(opened);
    expect(near.to - near.from).toBeLessThan(500);
    expect(near.from + (near.to - near.from) / 4).toBeCloseTo(750, 0);
    await page.mouse.down();
    await page.mouse.move(x + gutter + (width - gutter) / 2, y + 100, { steps: 5 });
    await page.mouse.up();
    const moved = await shownWindow(opened);
    expect(moved.from + (moved.to - moved.from) / 2).toBeCloseTo(750, 0);
  });

  it('ends with the recording, however far the wheel zooms out', async () => {
    const { page } = await open({}, windowOf(500, 1500));
    const { x, y, width } = (await page.locator('#time-line').boundingBox())!;
    await page.mouse.move(x + width - 10, y + 100);
    for (let turn = 0; turn < 20; turn++) await page.mouse.wheel(0, 500);
    const { from, to } = await shownWindow(opened);
    expect(from).toBeLessThanOrEqual(0);
    expect(from).toBeGreaterThan(-0.03 * LENGTH);
    expect(to).toBeGreaterThanOrEqual(LENGTH);
    expect(to).toBeLessThan(1.03 * LENGTH);
    await page.getByText('all shown').waitFor();
    for (let turn = 0; turn < 5; turn++) await page.mouse.wheel(500, 0);
    expect((await shownWindow(opened)).to).toBeLessThan(1.03 * LENGTH);
  });

  it('pinches with two fingers', async () => {
    const { page } = await open({ touch: true }, windowOf(500, 1500));
    const { x, y, width } = (await page.locator('#time-line').boundingBox())!;
    const session = await page.context().newCDPSession(page);
    const touch = (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      apart: number,
    ): Promise<unknown> =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints:
          type === 'touchEnd'
            ? []
            : [-1, 1].map((side, id) => ({ x: x + width / 2 + side * apart, y: y + 100, id })),
      });
    await touch('touchStart', 50);
    for (let apart = 60; apart <= 200; apart += 20) await touch('touchMove', apart);
    await touch('touchEnd', 0);
    const near = await shownWindow(opened);
    expect((near.to - near.from) / 1000).toBeCloseTo(0.25, 1);
  });

  it('selects a span: its details, and the URL shows it again elsewhere', async () => {
    const { page, boxes } = await open({}, windowOf(100, 130));
    const box = (await boxes()).find(({ right, left }) => right - left > 200)!;
    const [x, y] = middleOf(box);
    await page.locator('#time-line').click({ position: { x, y } });
    await page.getByRole('heading', { name: /GET/ }).waitFor();
    const details = await page.locator('#details').innerText();
    expect(details).toContain('8 ms');
    expect(details).toMatch(/parent\s+none: it is a root/);
    await shownWindow(opened);
    const hash = new URL(page.url()).hash;
    expect(hash).toContain(`row=${box.row}`);
    expect(hash).not.toContain('token');
    await open({}, hash.slice(1));
    expect(await opened.page.locator('#details').innerText()).toBe(details);
  });

  it('selects with the keyboard alone, and says it', async () => {
    const { page } = await open({}, windowOf(100, 130));
    await page.locator('#time-line').focus();
    await page.keyboard.press('Shift+ArrowRight');
    await page.waitForFunction(() => document.querySelector('#spoken')?.textContent !== '');
    expect(await page.locator('#spoken').innerText()).toMatch(/(GET|SELECT|parse).* ms$/);
    await page.keyboard.press('Shift+ArrowDown');
    await page.waitForFunction(() =>
      /SELECT/.test(document.querySelector('#spoken')?.textContent ?? ''),
    );
  });

  it('hides the tip when what is below the pointer changes', async () => {
    const { page, boxes } = await open({}, windowOf(100, 130));
    const box = (await boxes()).find(({ right, left }) => right - left > 200)!;
    const [x, y] = middleOf(box);
    await page.locator('#time-line').hover({ position: { x, y } });
    await page.locator('.tip').waitFor();
    await page.locator('#time-line').focus();
    await page.keyboard.press('d', { delay: 100 });
    await page.locator('.tip').waitFor({ state: 'detached' });
  });

  it('selects a range by a drag with Shift, until Escape or a button clears it', async () => {
    const { page, colourAt } = await open({}, windowOf(100, 130));
    const { x, y, width } = (await page.locator('#time-line').boundingBox())!;
    const clear = page.getByRole('button', { name: 'Clear range' }).first();
    // Of the axis, where there is nothing else.
    const place = [0.6 * width, 20] as const;
    const before = await colourAt(...place);
    for (const end of ['Escape', 'button']) {
      await page.keyboard.down('Shift');
      await page.mouse.move(x + 0.5 * width, y + 60);
      await page.mouse.down();
      await page.mouse.move(x + 0.7 * width, y + 60, { steps: 4 });
      await page.mouse.up();
      await page.keyboard.up('Shift');
      await clear.waitFor();
      await expect.poll(() => colourAt(...place)).not.toBe(before);
      if (end === 'button') await clear.click();
      else {
        await page.locator('#time-line').focus();
        await page.keyboard.press('Escape');
      }
      await expect.poll(() => colourAt(...place)).toBe(before);
      expect(await clear.count()).toBe(0);
    }
  });

  it('explains its keys', async () => {
    const { page } = await open();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await page.getByRole('dialog').innerText()).toContain('zoom in and out');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it.each([
    ['the system', true, undefined, '#12161b'],
    ['the system', false, undefined, '#ffffff'],
    ['the choice', false, '/time-line?theme=dark', '#12161b'],
    ['the choice', true, '/time-line?theme=light', '#ffffff'],
  ])('is light or dark as %s has it', async (_, dark, fragment, colour) => {
    const { page, colourAt } = await open({ dark }, fragment);
    const height = await page.locator('#time-line').evaluate((canvas) => canvas.clientHeight);
    expect(await colourAt(2, height - 3)).toBe(colour);
  });

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits %d by %d', async (width, height) => {
    const { page, boxes } = await open({ width, height });
    expect((await boxes()).length).toBeGreaterThan(10);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
