// The page of `tracewright view` in Chromium without a window, drawing in software: from the whole hour
// to a microsecond and back.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { internal } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { timeSearch, timeTable } from './view-answers.mjs';

const own = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = own('../dist/cli/main.js');
const CHROMIUM = process.env.TRACEWRIGHT_CHROMIUM ?? '/usr/bin/chromium';
const [WIDTH, HEIGHT] = [1600, 900];
/** Frames of the way to a microsecond, and as many back. */
const FRAMES = 600;
/** Windows at which the picture is compared with the data, and spans of each. */
const STOPS = 12;
const SPANS_A_STOP = 8;
const SORTS = ['duration', 'name', 'start'];
/** Users of the trace, each with some twenty of ten million spans. */
const SEARCHES = ['enduser.id=user-4711', 'enduser.id=user-123456', 'enduser.id=user-400000'];

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** @param {string[]} args */
function run(...args) {
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args[0]} failed: ${stderr}`);
}

/** The page's own rule for colours. @param {string} url of the page. */
async function colourRule(url) {
  const entry = own('../src/page/theme/palette.ts');
  const options = {
    entryPoints: [entry],
    write: false,
    bundle: true,
    format: /** @type {const} */ ('esm'),
  };
  const { outputFiles } = await build(options);
  const code = `data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`;
  const { AssignedColours } = await import(code);
  const { origin, hash } = new URL(url);
  const headers = { 'x-tracewright-token': new URLSearchParams(hash.slice(1)).get('token') };
  const { frequentNames } = await (await fetch(`${origin}/data/recording`, { headers })).json();
  return new AssignedColours(frequentNames.map(({ name }) => name));
}

/** Zooms by the wheel, one step a frame, and notes every frame. Runs in the page. */
async function zoom({ frames, step, x, y }) {
  const canvas = document.querySelector('#time-line');
  const { picture } = canvas;
  const times = [];
  let [boxes, labels] = [0, 0];
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < frames; frame++) {
    const init = { deltaY: step, clientX: x, clientY: y, cancelable: true };
    canvas.dispatchEvent(new WheelEvent('wheel', init));
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
    boxes += picture.size;
    labels += picture.labelled;
  }
  return { times, boxes: boxes / frames, labels: labels / frames };
}

/** The boxes of rows, and the colours of their left upper corners. Runs in the page. */
function boxesOf(rows) {
  const canvas = document.querySelector('#time-line');
  const { picture } = canvas;
  const context = canvas.getContext('2d');
  return rows.map((row) => {
    const box = picture.boxOf(row);
    if (box < 0) return undefined;
    const [left, right, top] = [picture.left[box], picture.right[box], picture.top[box]];
    const { data } = context.getImageData(left + 2, top, 1, 1);
    const colour = [...data.subarray(0, 3)].map((each) => each.toString(16).padStart(2, '0'));
    return { left, right, colour: `#${colour.join('')}` };
  });
}

/** Rows around the moment that a window shows clearly, and where they should be. */
function expectedRows(index, part, from, to, left, width) {
  const pixel = (to - from) / width;
  const found = [];
  for (let at = 0; at < part.count && found.length < SPANS_A_STOP; at++) {
    const start = part.start[at] + part.offset;
    const end = start + part.duration[at];
    if (start < from || end > to || end - start < 12 * pixel || part.lane[at] > 20) continue;
    found.push({
      row: part.firstRow + at,
      name: part.names.text(part.name[at]),
      left: left + (start - from) / pixel,
      right: left + (end - from) / pixel,
    });
  }
  return found;
}

async function measure({ quick, trace }) {
  const place = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const spans = quick ? 1_000_000 : 10_000_000;
  const hour = trace ?? join(place, 'hour.heph');
  const moments = join(place, 'moments.heph');
  const { openLookIndex } = internal('look/index/open-look-index');
  let server;
  let browser;
  try {
    if (trace === undefined) run(own('look-trace.mjs'), hour, '--spans', String(spans));
    const first = await openLookIndex([hour]);
    const moment = first.epoch + 1_800_000_000_000n;
    first.close();
    run(own('view-moments.mjs'), moments, String(moment));
    // The moments come first, so both are visible; it also leaves the indexes in the cache.
    const index = await openLookIndex([moments, hour]);
    const part = index.parts.find(({ source }) => source.path === moments);
    server = spawn(process.execPath, [COMMAND, 'view', moments, hour, '--no-open'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [url] = await once(server.stdout.setEncoding('utf8'), 'data');

    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu', '--enable-precise-memory-info'],
    });
    const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
    await page.addInitScript(() => performance.setResourceTimingBufferSize(10_000));
    const opened = performance.now();
    await page.goto(url.trim().replace('#', '#/time-line?').replace('?/?', '?'));
    await page.waitForFunction(() => document.querySelector('#time-line')?.picture?.size > 0);
    const firstPicture = performance.now() - opened;
    await page.waitForTimeout(3000);
    // All lanes: folded ones would be fewer boxes, and places that cannot be compared.
    await page.locator('#time-line').press('o');
    await page.waitForTimeout(1000);

    const canvas = await page.locator('#time-line').boundingBox();
    const gutter = Math.min(200, Math.round(canvas.width * 0.2));
    const width = canvas.width - gutter;
    const centre = Number(moment - index.epoch);
    const x = canvas.x + gutter + (centre / index.length) * width;
    const y = canvas.y + canvas.height / 2;
    const steps = Math.log(index.length / 1000) / 0.0015;
    await page.evaluate(() => performance.clearResourceTimings());
    const ways = [];
    for (const side of [-1, 1]) {
      const way = { frames: FRAMES, step: (side * steps) / FRAMES, x, y };
      ways.push(await page.evaluate(zoom, way));
      await page.waitForTimeout(500);
    }
    const windows = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name, responseEnd }) => name.includes('/data/boxes') && responseEnd > 0)
        .map(({ requestStart, responseEnd }) => responseEnd - requestStart),
    );
    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);

    const colours = await colourRule(url.trim());
    let [compared, wrong] = [0, 0];
    for (let stop = 0; stop < STOPS; stop++) {
      const size = index.length * (1000 / index.length) ** (stop / (STOPS - 1));
      const [from, to] = [centre - size / 2, centre + size / 2];
      await page.evaluate(
        ([a, b]) => void (location.hash = `from=${a}&to=${b}`),
        [from.toFixed(3), to.toFixed(3)],
      );
      await page.waitForTimeout(1500);
      const rows = expectedRows(index, part, from, to, gutter, width);
      const drawn = await page.evaluate(
        boxesOf,
        rows.map(({ row }) => row),
      );
      for (const [at, { name, left, right }] of rows.entries()) {
        const box = drawn[at];
        compared += 1;
        const isRight =
          box !== undefined &&
          Math.abs(box.left - left) <= 1.5 &&
          Math.abs(box.right - right) <= 1.5 &&
          box.colour === colours.of(name);
        if (!isRight) wrong += 1;
      }
    }
    const tables = [];
    for (const sort of SORTS) {
      tables.push(await page.evaluate(timeTable, { sort, rows: index.rows }));
    }
    const searches = [];
    for (const where of SEARCHES) searches.push(await page.evaluate(timeSearch, where));
    const [firstRows, sorted] = ['first', 'sorted'].map((what) =>
      Math.max(...tables.map((each) => each[what])),
    );
    const firstMatch = Math.max(...searches);
    const times = ways.flatMap((way) => way.times);
    const mean = (/** @type {'boxes' | 'labels'} */ what) => (ways[0][what] + ways[1][what]) / 2;
    const p95 = quantile(windows, 0.95);
    const goal = (
      /** @type {string} */ text,
      /** @type {number} */ figure,
      /** @type {boolean} */ met,
    ) => ({
      goal: text,
      figure,
      met,
    });
    const [median, slow] = [quantile(times, 0.5), quantile(times, 0.95)];
    return {
      tables: [
        {
          title: `${index.rows.toLocaleString('en-US')} rows at ${WIDTH} x ${HEIGHT}, drawn in software`,
          columns: ['', 'median', 'p95', 'most'],
          rows: [
            ['frame, ms', median, slow, Math.max(...times)],
            ['window of boxes, ms', quantile(windows, 0.5), p95, Math.max(...windows)],
          ],
        },
        {
          title: 'Answers about all rows, ms',
          columns: ['', 'first rows', 'all sorted'],
          rows: [
            ...SORTS.map((sort, at) => [`table by ${sort}`, tables[at].first, tables[at].sorted]),
            ...SEARCHES.map((where, at) => [`search for ${where}`, searches[at], '']),
          ],
        },
      ],
      goals: [
        goal('first picture, ms, at most 1,000', firstPicture, firstPicture <= 1000),
        goal('frame, median ms, at most 17', median, median <= 17),
        goal('frame, p95 ms, at most 34', slow, slow <= 34),
        goal('labelled boxes on average, at least 1,000', mean('labels'), mean('labels') >= 1000),
        goal('drawn boxes on average, at most 2,000', mean('boxes'), mean('boxes') <= 2000),
        goal('windows, p95 ms, at most 30', p95, p95 <= 30),
        goal('heap of the page, MB, below 150', heap / 1e6, heap < 150e6),
        goal('places compared, at least 50', compared, compared >= 50),
        goal('of them wrong', wrong, wrong === 0),
        goal('first rows of the table, ms, at most 100', firstRows, firstRows <= 100),
        goal('table sorted, ms, at most 2,000', sorted, sorted <= 2000),
        goal('first match of a search, ms, at most 300', firstMatch, firstMatch <= 300),
      ],
      notes: [`${windows.length} windows were answered while zooming over ${2 * FRAMES} frames.`],
    };
  } finally {
    await browser?.close();
    server?.kill('SIGINT');
    rmSync(place, { recursive: true, force: true });
  }
}

if (!existsSync(CHROMIUM)) {
  console.error(`no Chromium at ${CHROMIUM}: install it, or set TRACEWRIGHT_CHROMIUM`);
  process.exit(1);
}
await main(import.meta.url, {
  title: 'The page: zoom from an hour to a microsecond and back',
  options: { trace: { type: 'string' } },
  help: '  --trace PATH  instead of a new trace of 10 million spans\n',
  measure,
});
