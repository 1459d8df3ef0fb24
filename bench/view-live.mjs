// The page of `tracewright view --live` next to a service under load: what its heap does over minutes, and
// whether the service notices that it is looked at.
//
//   node bench/view-live.mjs [--seconds 600] [--rate 5000]

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { main } from './benchmark.mjs';
import { median, quantile } from './median.mjs';

const own = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = own('../dist/cli/main.js');
const CHROMIUM = process.env.TRACEWRIGHT_CHROMIUM ?? '/usr/bin/chromium';
/** The server is stopped for a slice now and then: what the service costs with and without is compared. */
const SLICE_MS = 5000;
const SLICES_A_ROUND = 4;
const WARM_UP_MS = 5000;
/** Heap of the page beyond that of its first minute, in MB. */
const MOST_GROWTH = 10;

/** @param {import('node:child_process').ChildProcess} service */
async function usedBy(service) {
  service.send('report');
  const [report] = await once(service, 'message');
  return /** @type {{ requests: number, cpuUs: number, ms: number }} */ (report);
}

/** Seconds of CPU and megabytes of a process. @param {number} pid */
function resourcesOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, mb: Number(fields[21]) / 256 };
}

/** @param {{ quick: boolean, seconds?: string, rate?: string }} options */
async function measure({ quick, seconds, rate = '5000' }) {
  const length = Number(seconds ?? (quick ? 60 : 600)) * 1000;
  const place = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const traces = join(place, 'traces');
  const service = fork(own('http-service.mjs'), [], {
    execArgv: ['--import', 'tracewright/register'],
    env: {
      ...process.env,
      TRACEWRIGHT_DIR: traces,
      TRACEWRIGHT_FORMATS: 'heph',
      TRACEWRIGHT_QUIET: '1',
    },
  });
  let load;
  let server;
  let browser;
  try {
    const [{ port }] = await once(service, 'message');
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
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.enable');

    const heaps = [];
    const updates = [];
    const cost = { watched: [], alone: [] };
    const before = resourcesOf(server.pid);
    const begin = performance.now();
    for (let slice = 0; performance.now() - begin < length; slice++) {
      const isAlone = slice % SLICES_A_ROUND === SLICES_A_ROUND - 1;
      if (isAlone) server.kill('SIGSTOP');
      const from = await usedBy(service);
      const frames = await page.evaluate(() => document.querySelector('#time-line').picture.frames);
      await sleep(SLICE_MS);
      const to = await usedBy(service);
      const requests = to.requests - from.requests;
      cost[isAlone ? 'alone' : 'watched'].push({
        us: (to.cpuUs - from.cpuUs) / requests,
        rate: (requests / (to.ms - from.ms)) * 1000,
      });
      if (isAlone) {
        server.kill('SIGCONT');
        await sleep(1000);
        continue;
      }
      const now = await page.evaluate(() => document.querySelector('#time-line').picture.frames);
      updates.push(((now - frames) / (to.ms - from.ms)) * 1000);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      heaps.push(usedSize / 1e6);
    }
    const after = resourcesOf(server.pid);
    const took = (performance.now() - begin) / 1000;
    const rows = await page.locator('.what').innerText();

    const us = (/** @type {{ us: number }[]} */ slices) => slices.map((each) => each.us);
    const [watched, alone] = [median(us(cost.watched)), median(us(cost.alone))];
    const noise = quantile(us(cost.alone), 0.9) - quantile(us(cost.alone), 0.1);
    const early = median(heaps.slice(0, Math.ceil(heaps.length / 10)));
    const late = median(heaps.slice(-Math.ceil(heaps.length / 10)));
    const rates = [...cost.watched, ...cost.alone].map((each) => each.rate);
    return {
      tables: [
        {
          title: `${Math.round(took)} s of a service at ${Math.round(median(rates))} requests/s, followed by the page`,
          columns: ['', 'first', 'last', 'most'],
          rows: [
            ['heap of the page, MB', early, late, Math.max(...heaps)],
            ['memory of the server, MB', before.mb, after.mb, ''],
            ['frames that were drawn a second', updates[0], updates.at(-1), Math.max(...updates)],
          ],
        },
        {
          title: 'What a request costs the service, µs of CPU',
          columns: ['', 'median', 'p10', 'p90'],
          rows: [
            ['followed', watched, quantile(us(cost.watched), 0.1), quantile(us(cost.watched), 0.9)],
            [
              'the server stopped',
              alone,
              quantile(us(cost.alone), 0.1),
              quantile(us(cost.alone), 0.9),
            ],
          ],
        },
      ],
      goals: [
        {
          goal: `growth of the page's heap, MB, at most ${MOST_GROWTH}`,
          figure: late - early,
          met: late - early <= MOST_GROWTH,
        },
        {
          goal: "service's cost, difference in µs, at most its noise",
          figure: watched - alone,
          met: watched - alone <= Math.max(noise, alone * 0.05),
        },
        {
          goal: 'updates a second at the end, at least 1',
          figure: updates.at(-1),
          met: updates.at(-1) >= 1,
        },
      ],
      notes: [
        `The page said at the end: ${rows}.`,
        `The server of the page used ${((100 * (after.cpu - before.cpu)) / took).toFixed(0)} % of a CPU.`,
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
  options: { seconds: { type: 'string' }, rate: { type: 'string' } },
  help: '  --seconds N  default: 600\n  --rate N     requests a second; default: 5000\n',
  measure,
});
