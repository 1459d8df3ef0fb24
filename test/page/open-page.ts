import type { Browser, Page } from 'playwright-core';
import type { TimeLineCanvas } from '../../src/page/time-line/picture.js';

/** A box of the last frame. */
export interface DrawnBox {
  row: number;
  name: number;
  count: number;
  left: number;
  right: number;
  top: number;
  height: number;
  /** CPU samples; 0: it is of rows. */
  samples: number;
}

/** The page in the browser, and what tests ask of it. */
export interface OpenPage {
  page: Page;
  /** What the console said, errors of scripts included. */
  complaints: string[];
  boxes: () => Promise<DrawnBox[]>;
  /** The colour of a point of the time line, as `#rrggbb`. */
  colourAt: (x: number, y: number) => Promise<string>;
  close: () => Promise<void>;
}

export interface PageOptions {
  width?: number;
  height?: number;
  dark?: boolean;
  touch?: boolean;
  /** Pixels of the screen for each of the page. */
  ratio?: number;
}

/** Opens the page and waits for its first picture, if it is the time line, or else for its view. */
export async function openPage(
  browser: Browser,
  url: string,
  { width = 1600, height = 800, dark = false, touch = false, ratio = 1 }: PageOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    hasTouch: touch,
    deviceScaleFactor: ratio,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => {
    const canvas = document.querySelector<TimeLineCanvas>('#time-line');
    if (canvas !== null) return (canvas.picture?.size ?? 0) > 0;
    return document.querySelector('.scope label') !== null;
  });
  return {
    page,
    complaints,
    boxes: () => page.evaluate(boxesOfPage),
    colourAt: (x, y) => page.evaluate(colourOfPage, [x, y] as const),
    close: () => context.close(),
  };
}

/** Lists what a search finds and opens the first match: its trace. */
export async function openFirstMatch(page: Page, text: string): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Find spans' });
  await field.fill(text);
  await field.press('Enter');
  await page
    .locator('#view-find')
    .getByText(/^[\d,]+ spans? that match/)
    .waitFor();
  await page.locator('#view-find .grid-body [role=row]').first().click();
}

/** The same on the time line, with the details of the match. */
export async function selectFirstMatch(page: Page, text: string): Promise<void> {
  await openFirstMatch(page, text);
  await page.locator('#view-find').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Time line', exact: true }).click();
  await page.locator('#details').getByRole('heading', { level: 2 }).waitFor();
}

/** A busy machine may draw none in any time. */
const HELD_FRAMES = 8;

/** Holds a key of the time line, which has the focus, for as many frames. */
export async function holdKey(page: Page, key: string): Promise<void> {
  const drawn = (): number => document.querySelector<TimeLineCanvas>('#time-line')!.picture!.frames;
  const before = await page.evaluate(drawn);
  await page.keyboard.down(key);
  await page.waitForFunction(
    (until) => document.querySelector<TimeLineCanvas>('#time-line')!.picture!.frames >= until,
    before + HELD_FRAMES,
  );
  await page.keyboard.up(key);
}

/** Runs in the browser. */
function boxesOfPage(): DrawnBox[] {
  const { picture } = document.querySelector<TimeLineCanvas>('#time-line')!;
  if (picture === undefined) return [];
  return Array.from({ length: picture.size }, (_, box) => ({
    row: picture.row[box]!,
    name: picture.name[box]!,
    count: picture.count[box]!,
    left: picture.left[box]!,
    right: picture.right[box]!,
    top: picture.top[box]!,
    height: picture.height[box]!,
    samples: picture.samples[box]!,
  }));
}

/** Runs in the browser. */
function colourOfPage([x, y]: readonly [number, number]): string {
  const canvas = document.querySelector<TimeLineCanvas>('#time-line')!;
  const ratio = canvas.width / canvas.clientWidth;
  const { data } = canvas
    .getContext('2d')!
    .getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1);
  return `#${[...data.subarray(0, 3)].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
