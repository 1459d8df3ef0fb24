/* global window, MutationObserver */

// The page of `tracewright view --live` next to a service under load: what its heap does over minutes, and
// whether the service notices that it is looked at.
//
//   node bench/view-live.mjs [--seconds 600] [--rate 5000] [--recorded 0]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { main } from './benchmark.mjs';
import { leaveServiceCore, startService } from './http-turns.mjs';
import { median, quantile } from './median.mjs';

const own = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = own('../dist/cli/main.js');
const CHROMIUM = process.env.TRACEWRIGHT_CHROMIUM ?? '/usr/bin/chromium';
/** The server is stopped for every other slice: what the service costs with and without is compared. */
const SLICE_MS = 10_000;
/** After a slice the other one begins to show. What was recorded meanwhile is read in this time. */
const PAUSE_MS = 2000;
const WARM_UP_MS = 5000;
/** Heap of the page beyond that of its first minute, in MB. */
const MOST_GROWTH = 10;
/** Memory of the server after half an hour at the pace of the second half, in MB. */
const MOST_MEMORY = 1024;
const LEAST_UPDATES = 2;
/** Of a CPU, while the page follows. */
const MOST_CPU = 0.4;
/** What a request may cost more without anybody noticing. */
const NOISE = 0.05;

/** @param {import('node:child_process').ChildProcess} service */
async function usedBy(service) {
  service.send('report');
  const [report] = await once(service, 'message');
  return /** @type {{ requests: number, cpuUs: number, ms: number }} */ (report);
}

/** Seconds of CPU and megabytes in memory of a process. @param {number} pid */
function resourcesOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, mb: Number(fields[21]) / 256 };
}

/** Counts how often the page says another number of rows. Runs in the page. */
function countUpdates() {
  const counter = Object.assign(window, { updates: 0 });
  let before = '';
  new MutationObserver(() => {
    const now = /^[\d,]+/.exec(document.querySelector('.what')?.textContent ?? '')?.[0] ?? '';
    if (now !== before) counter.updates += 1;
    before = now;
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}

/** @param {number[]} values */
function meanWithin(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / Math.max(1, values.length - 1) / values.length) };
}

/** What grows by so much a second. @param {{ at: number, value: number }[]} points */
function slopeOf(points) {
  const at = meanWithin(points.map((point) => point.at)).mean;
  const value = meanWithin(points.map((point) => point.value)).mean;
  let [up, down] = [0, 0];
  for (const point of points) {
    up += (point.at - at) * (point.value - value);
    down += (point.at - at) ** 2;
  }
  return down === 0 ? 0 : up / down;
}

/** @param {{ quick: boolean, seconds?: string, rate?: string, recorded?: string }} options */
async function measure({ quick, seconds, rate = '5000', recorded }) {
  const length = Number(seconds ?? (quick ? 60 : 600)) * 1000;
  const before = Number(recorded ?? (quick ? 3_000_000 : 0));
  const place = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const traces = join(place, 'traces');
  // What follows the service has a core of its own, so that the difference is what reading the trace costs.
  leaveServiceCore();
  const { child: service, port } = await startService(
    {
      name: 'followed',
      flags: ['--import', 'tracewright/register', own('view-live-service.mjs')],
      env: { TRACEWRIGHT_FORMATS: 'heph' },
    },
    traces,
  );
  let load;
  let server;
  let browser;
  try {
    if (before > 0) {
      service.send({ record: before });
      for (;;) {
        const [message] = await once(service, 'message');
        if (message.recorded !== undefined) break;
      }
    }
    load = spawn(process.execPath, [own('paced-load.mjs'), String(port), rate], {
      stdio: 'inherit',
    });
    await sleep(WARM_UP_MS);
    const heph = join(traces, 'heph');
    if (!existsSync(heph) || readdirSync(heph).length === 0)
      throw new Error('the service has no trace');

    server = spawn(
      process.execPath,
      [COMMAND, 'view', heph, '--live', '--no-open', '--cache', join(place, 'cache')],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [url] = await once(server.stdout.setEncoding('utf8'), 'data');
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu'],
    });
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    await page.goto(url.trim());
    await page.waitForFunction(() => document.querySelector('#time-line')?.picture?.size > 0);
    // Zoomed to a second or so: the window slides.
    await page.evaluate(() => (location.hash = `from=0&to=1000000000`));
    await page.evaluate(countUpdates);
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.enable');

    const heaps = [];
    const memory = [];
    const updates = [];
    const busy = [];
    /** @type {{ us: number, rate: number }[][]} */
    const [followed, alone] = [[], []];
    const begin = performance.now();
    for (let slice = 0; performance.now() - begin < length; slice++) {
      const isAlone = slice % 2 === 1;
      server.kill(isAlone ? 'SIGSTOP' : 'SIGCONT');
      await sleep(PAUSE_MS);
      const updatesBefore = await page.evaluate(() => window.updates);
      const cpuBefore = resourcesOf(server.pid).cpu;
      const from = await usedBy(service);
      await sleep(SLICE_MS - PAUSE_MS);
      const to = await usedBy(service);
      const requests = to.requests - from.requests;
      const ms = to.ms - from.ms;
      const cost = { us: (to.cpuUs - from.cpuUs) / requests, rate: (requests / ms) * 1000 };
      (isAlone ? alone : followed).push(cost);
      if (isAlone) continue;
      const now = resourcesOf(server.pid);
      busy.push((now.cpu - cpuBefore) / (ms / 1000));
      updates.push((((await page.evaluate(() => window.updates)) - updatesBefore) / ms) * 1000);
      memory.push({ at: (performance.now() - begin) / 1000, value: now.mb });
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      heaps.push(usedSize / 1e6);
    }
    server.kill('SIGCONT');
    const took = (performance.now() - begin) / 1000;
    const rows = await page.locator('.what').innerText();

    const pairs = alone.map((each, i) => followed[i].us - each.us);
    const { mean, error } = meanWithin(pairs);
    const usual = median(alone.map(({ us }) => us));
    const noise = Math.max(2 * error, NOISE * usual);
    const tenth = Math.ceil(heaps.length / 10);
    const growth = median(heaps.slice(-tenth)) - median(heaps.slice(0, tenth));
    const late = memory.slice(Math.floor(memory.length / 2));
    const halfHour = memory.at(-1).value + Math.max(0, slopeOf(late)) * Math.max(0, 1800 - took);
    const lastUpdates = median(updates.slice(-tenth));
    const lastBusy = median(busy.slice(-tenth));
    const reached = median([...followed, ...alone].map((each) => each.rate));
    const costs = (/** @type {string} */ name, /** @type {{ us: number }[]} */ slices) => {
      const us = slices.map((each) => each.us);
      return [name, median(us), quantile(us, 0.1), quantile(us, 0.9)];
    };
    return {
      tables: [
        {
          title: `${Math.round(took)} s of a service at ${Math.round(reached)} requests/s, followed by the page`,
          columns: ['', 'first', 'last', 'most'],
          rows: [
            ['heap of the page, MB', heaps[0], heaps.at(-1), Math.max(...heaps)],
            [
              'memory of the server, MB',
              memory[0].value,
              memory.at(-1).value,
              Math.max(...memory.map(({ value }) => value)),
            ],
            ['updates a second', updates[0], updates.at(-1), Math.max(...updates)],
            ['the server, % of a CPU', 100 * busy[0], 100 * busy.at(-1), 100 * Math.max(...busy)],
          ],
        },
        {
          title: 'What a request costs the service, µs of CPU',
          columns: ['', 'median', 'p10', 'p90'],
          rows: [
            costs('followed', followed),
            costs('the server stopped', alone),
            ['difference of neighbours', median(pairs), quantile(pairs, 0.1), quantile(pairs, 0.9)],
          ],
        },
      ],
      goals: [
        {
          goal: `requests a second, at least ${Math.round(0.95 * Number(rate))}`,
          figure: reached,
          met: reached >= 0.95 * Number(rate),
        },
        {
          goal: `growth of the page's heap, MB, at most ${MOST_GROWTH}`,
          figure: growth,
          met: growth <= MOST_GROWTH,
        },
        {
          goal: `what following adds to a request, µs, at most ${noise.toFixed(2)}, the noise`,
          figure: mean,
          met: mean <= noise,
        },
        {
          goal: `updates a second at the end, at least ${LEAST_UPDATES}`,
          figure: lastUpdates,
          met: lastUpdates >= LEAST_UPDATES,
        },
        {
          goal: `the server at the end, % of a CPU, below ${100 * MOST_CPU}`,
          figure: 100 * lastBusy,
          met: lastBusy < MOST_CPU,
        },
        {
          goal: `memory of the server after half an hour, MB, at most ${MOST_MEMORY}`,
          figure: halfHour,
          met: halfHour <= MOST_MEMORY,
        },
      ],
      notes: [
        `The page said at the end: ${rows}.`,
        `The difference is the mean of ${pairs.length} pairs of neighbours; its standard error is ${error.toFixed(2)} µs. The noise is twice that, or ${100 * NOISE} % of the cost.`,
      ],
    };
  } finally {
    load?.kill();
    await browser?.close();
    server?.kill('SIGCONT');
    server?.kill('SIGINT');
    if (service.connected) service.send('end');
    await once(service, 'exit');
    rmSync(place, { recursive: true, force: true });
  }
}

if (!existsSync(CHROMIUM)) {
  console.error(`no Chromium at ${CHROMIUM}: install it, or set TRACEWRIGHT_CHROMIUM`);
  process.exit(1);
}
await main(import.meta.url, {
  title: 'The page next to a service under load, live',
  options: {
    seconds: { type: 'string' },
    rate: { type: 'string' },
    recorded: { type: 'string' },
  },
  help: `  --seconds N   default: 600; with --quick 60
  --rate N      requests a second; default: 5000
  --recorded N  requests that are recorded before; default: 0; with --quick 3,000,000
`,
  measure,
});
