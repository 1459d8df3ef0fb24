// The views of the page in Chromium without a window: when each has its first pixels and its figures, how long an event
// takes to its paint, what the page needs, and 200 processes on the time line.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { main } from './benchmark.mjs';
import { writeLookTrace } from './look-trace.mjs';

const own = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = own('../dist/cli/main.js');
const HOOK = own('../dist/node/register.js');
const CHROMIUM = process.env.TRACEWRIGHT_CHROMIUM ?? '/usr/bin/chromium';
const PROCESSES = 200;
/** Processes that run at once while they are recorded. */
const AT_ONCE = 8;
const EVENTS = 60;
/** Visits of each view. */
const ROUNDS = 3;

/** What a view has when its figures are there. */
const FIGURES = {
  overview: '#section-routes tbody tr',
  route: '#view-route tbody tr',
  'one route': '.route .parts tbody tr',
  'time-line': '#time-line',
  find: '.grid-body [role=row] .number',
  trace: '.span-row:not(.span-head)',
  compare: '#view-compare p',
};

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Clicks, and waits for the frames that have the view and its figures. Runs in the page. In ms. */
async function visit({ click, view, figures }) {
  const begin = performance.now();
  const until = async (/** @type {() => boolean} */ is) => {
    while (!is()) await new Promise(requestAnimationFrame);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - begin;
  };
  document.querySelector(click).click();
  const pixels = await until(() => document.querySelector(`#view-${view}`) !== null);
  const all = await until(() => {
    const found = document.querySelector(figures);
    return found !== null && (found.id !== 'time-line' || found.picture?.size > 0);
  });
  return { pixels, all };
}

/** The browser reports no event that took less, in ms. */
const LEAST_TOLD = 16;

/**
 * Notes for every event how long its paint takes. The browser itself reports keys, in steps of 8 ms. For what it does not
 * report, the first turn after the frame counts, which would wait as long as keys follow each other. Runs in the page.
 */
function watchEvents(least) {
  globalThis.paints = [];
  globalThis.keys = [];
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) {
      if (name === 'keydown') globalThis.keys.push(duration);
    }
  }).observe({ type: 'event', durationThreshold: least });
  for (const type of ['wheel', 'pointermove']) {
    addEventListener(
      type,
      ({ timeStamp }) => {
        requestAnimationFrame(() => {
          setTimeout(() => globalThis.paints.push(performance.now() - timeStamp));
        });
      },
      { capture: true, passive: true },
    );
  }
}

/** @param {string[]} paths */
async function startView(paths, cache) {
  const args = [COMMAND, 'view', ...paths, '--no-open', '--cache', cache];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  const [base, token] = line.split('\n')[0].split('#');
  const address = (/** @type {string} */ view) => `${base}#${view}?${token.replace(/^\/?\??/, '')}`;
  return { server, address };
}

/** Records processes of one run, which one of them starts: each lives for two seconds. */
async function recordProcesses(directory) {
  const child = `child_process.spawn(process.execPath, ['-e', 'setTimeout(() => {}, 2200)'])`;
  const program = `
    let left = ${PROCESSES - 1};
    const next = () => left-- > 0 && ${child}.on('exit', next);
    for (let each = 0; each < ${AT_ONCE}; each++) next();`;
  const env = {
    ...process.env,
    NODE_OPTIONS: `--require ${HOOK}`,
    TRACEWRIGHT_DIR: directory,
    TRACEWRIGHT_QUIET: '1',
  };
  await once(spawn(process.execPath, ['-e', program], { env, stdio: 'ignore' }), 'exit');
}

/** From the address to the first picture of all processes, in ms. */
async function timeProcesses(browser, paths, cache) {
  const { server, address } = await startView(paths, cache);
  try {
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    await page.goto(address('/overview'));
    await page.waitForSelector('#recordings tbody tr');
    const figures = FIGURES['time-line'];
    const click = 'nav a[href*="/time-line"]';
    const { all } = await page.evaluate(visit, { click, view: 'time-line', figures });
    const processes = await page.evaluate(async () => {
      const headers = { 'x-tracewright-token': sessionStorage.getItem('tracewright-token') };
      return (await (await fetch('/data/recording', { headers })).json()).processes.length;
    });
    await page.close();
    return { all, processes };
  } finally {
    server.kill('SIGINT');
  }
}

async function measure({ quick, trace }) {
  const place = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const cache = join(place, 'index');
  const hour = trace ?? join(place, 'hour.heph');
  let server;
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--enable-precise-memory-info'],
  });
  try {
    if (trace === undefined) {
      await writeLookTrace(hour, { spans: quick ? 1_000_000 : 10_000_000, attributes: 'many' });
    }
    // It leaves the index in the cache.
    spawnSync(process.execPath, [COMMAND, 'report', hour, '--json', '--cache', cache]);
    const begun = performance.now();
    const started = await startView([hour], cache);
    ({ server } = started);
    const ready = performance.now() - begun;
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    await page.addInitScript(watchEvents, LEAST_TOLD);
    const opened = performance.now();
    await page.goto(started.address('/overview'));
    await page.waitForSelector(FIGURES.overview);
    const overview = performance.now() - opened;

    const tab = (/** @type {string} */ view) => `nav a[href*="/${view}"]`;
    const visits = [
      ['route', tab('route'), 'route'],
      ['one route', '#view-route tbody a', 'route'],
      ['time-line', tab('time-line'), 'time-line'],
      ['find', tab('find'), 'find'],
      ['trace', '.grid-body [role=row]', 'trace'],
      ['compare', tab('compare'), 'compare'],
      ['overview', tab('overview'), 'overview'],
    ];
    /** @type {Map<string, { pixels: number[], all: number[] }>} */
    const times = new Map(visits.map(([name]) => [name, { pixels: [], all: [] }]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, click, view] of visits) {
        const figures = FIGURES[name];
        const { pixels, all } = await page.evaluate(visit, { click, view, figures });
        times.get(name).pixels.push(pixels);
        times.get(name).all.push(all);
      }
    }

    const events = new Map();
    const act = async (name, selector, one, isKeys = false) => {
      await page.evaluate(() => void (globalThis.paints.length = globalThis.keys.length = 0));
      await page.locator(selector).first().hover();
      for (let event = 0; event < EVENTS; event++) await one(event);
      await page.waitForTimeout(300);
      const { paints, keys } = await page.evaluate(() => ({ paints, keys }));
      const untold = Array.from({ length: EVENTS - keys.length }, () => LEAST_TOLD);
      events.set(name, isKeys ? [...keys, ...untold] : paints);
    };
    await page.locator(tab('time-line')).click();
    await page.waitForTimeout(1500);
    await act('time line: wheel', '#time-line', (at) => page.mouse.wheel(0, at < 30 ? -240 : 240));
    await page.locator('#time-line').focus();
    await act('time line: keys', '#time-line', (at) => page.keyboard.press('wads'[at % 4]), true);
    await page.locator(tab('find')).click();
    await page.waitForSelector(FIGURES.find);
    await act('find: wheel', '.grid', () => page.mouse.wheel(0, 2000));
    await act('find: typing', '.search input', () => page.keyboard.press('a'), true);
    await page.locator(tab('overview')).click();
    await page.waitForSelector(FIGURES.overview);
    await act('overview: wheel', '#view-overview', (at) => page.mouse.wheel(0, at < 30 ? 90 : -90));
    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
    await page.close();
    server.kill('SIGINT');

    const directory = join(place, 'processes');
    await recordProcesses(directory);
    spawnSync(process.execPath, [COMMAND, 'report', directory, '--json', '--cache', cache]);
    const { all: folded, processes } = await timeProcesses(browser, [directory], cache);

    const slowest = Math.max(...[...times.values()].flatMap(({ pixels }) => pixels));
    const paint = quantile([...events.values()].flat(), 0.95);
    const goal = (/** @type {string} */ text, /** @type {number} */ figure, most) => {
      return { goal: `${text}, at most ${most}`, figure, met: figure <= most };
    };
    return {
      tables: [
        {
          title: 'From a click to the view and to its figures, ms, the slowest of three',
          columns: ['view', 'first pixels', 'figures'],
          rows: [...times].map(([name, { pixels, all }]) => [
            ...[name, Math.max(...pixels), Math.max(...all)],
          ]),
        },
        {
          title: 'From an event to its paint, ms',
          columns: ['', 'events', 'median', 'p95', 'most'],
          rows: [...events].map(([name, all]) => [
            ...[name, all.length, quantile(all, 0.5), quantile(all, 0.95), Math.max(...all)],
          ]),
        },
      ],
      goals: [
        goal('overview with its figures, ms', overview, 1000),
        goal('first pixels of a view, ms', slowest, 300),
        goal('event to paint, p95 ms', paint, 100),
        goal('heap of the page, MB', heap / 1e6, 300),
        goal(`${processes} processes on the time line, ms`, folded, 300),
      ],
      notes: [`The server printed its address ${Math.round(ready)} ms after its start.`],
    };
  } finally {
    await browser.close();
    server?.kill('SIGINT');
    rmSync(place, { recursive: true, force: true });
  }
}

if (!existsSync(CHROMIUM)) {
  console.error(`no Chromium at ${CHROMIUM}: install it, or set TRACEWRIGHT_CHROMIUM`);
  process.exit(1);
}
await main(import.meta.url, {
  title: 'The views of the page',
  options: { trace: { type: 'string' } },
  help: '  --trace PATH  instead of a new trace of 10 million spans\n',
  measure,
});
