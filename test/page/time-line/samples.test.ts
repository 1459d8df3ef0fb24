import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { main } from '../../cli/run-command.js';
import { noBrowser, titleOf } from '../browser.js';
import type { DrawnBox, OpenPage } from '../open-page.js';
import { ViewedTraces } from '../viewed-traces.js';

/** Contexts are kept where a sample can read them. */
const hasSpans = Number(process.versions.node.split('.')[0]) >= 24;
const BURN_MS = 800;

/** Serves a request that burns, between others that wait. */
const SERVICE = `
  const http = require('node:http');
  function spin(until) { let sum = 0; while (Date.now() < until) sum += Math.sqrt(sum + 1); return sum; }
  function price() { return spin(Date.now() + ${BURN_MS}); }
  const server = http.createServer((request, response) => {
    if (request.url === '/burn') response.end(String(price()));
    else setTimeout(() => response.end('ok'), 50);
  });
  const get = (path) => new Promise((resolve) => {
    const { port } = server.address();
    http.get({ port, path }, (response) => response.resume().on('end', () => setTimeout(resolve, 300)));
  });
  server.listen(0, '127.0.0.1', async () => {
    for (const path of ['/wait', '/burn', '/wait']) await get(path);
    process.exit();
  });`;

const traces = new ViewedTraces((directory) => {
  const program = join(directory, 'shop.cjs');
  writeFileSync(program, SERVICE);
  const hook = pathToFileURL(join(dirname(main), '../node/register.js')).href;
  const env = {
    ...process.env,
    TRACEWRIGHT_DIR: join(directory, 'shop'),
    TRACEWRIGHT_QUIET: '1',
    TRACEWRIGHT_ENABLED: '1',
    TRACEWRIGHT_PROFILE: 'cpu:100',
  };
  const { status, stderr } = spawnSync(process.execPath, ['--import', hook, program], {
    env,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return [join(directory, 'shop')];
});

const isSample = ({ samples }: DrawnBox): boolean => samples > 0;

/** Shows the samples. @returns their boxes. */
async function showSamples({ page, boxes }: OpenPage): Promise<DrawnBox[]> {
  await page.getByRole('button', { name: 'Samples' }).click();
  await expect.poll(async () => (await boxes()).filter(isSample).length).toBeGreaterThan(2);
  return boxes();
}

const widthOf = ({ left, right }: DrawnBox): number => right - left;

function widestOf(boxes: readonly DrawnBox[]): DrawnBox {
  return boxes.reduce((widest, box) => (widthOf(box) > widthOf(widest) ? box : widest));
}

/** The samples of the request that burns, and the function that runs below all others of it. */
function burningIn(drawn: readonly DrawnBox[]) {
  const request = widestOf(drawn.filter((box) => !isSample(box)));
  // A sample lasts until the next one.
  const spare = 2 + (widthOf(request) * 30) / BURN_MS;
  const samples = drawn.filter(
    (box) => isSample(box) && box.left >= request.left - 1 && box.right <= request.right + spare,
  );
  const tops = samples.map(({ top }) => top);
  const [highest, lowest] = [Math.min(...tops), Math.max(...tops)];
  const outermost = samples.filter(({ top }) => top === highest);
  return {
    request,
    samples,
    outermost,
    spin: widestOf(samples.filter(({ top }) => top === lowest)),
  };
}

const pointOf = ({ left, right, top, height }: DrawnBox) => ({
  position: { x: (left + right) / 2, y: top + height / 2 },
});

async function tipOf({ page }: OpenPage, box: DrawnBox): Promise<string> {
  await page.locator('#time-line').hover(pointOf(box));
  return page.locator('.tip').innerText();
}

describe.skipIf(noBrowser !== undefined)(titleOf('CPU samples on the time line'), () => {
  it('show the function that burns as the widest one, in the time of its request', async () => {
    const opened = await traces.open();
    expect((await opened.boxes()).filter(isSample)).toEqual([]);
    const drawn = await showSamples(opened);
    const { request, samples, outermost, spin } = burningIn(drawn);
    await expect
      .poll(() => tipOf(opened, spin))
      .toMatch(
        hasSpans
          ? /^spin \(\S*\/shop\.cjs from line 3\) · [\d.]+ m?s · \d+ samples · in GET \/burn$/
          : /^spin \(\S*\/shop\.cjs from line 3\) · [\d.]+ m?s · \d+ samples$/,
      );
    // What calls it is above it, and nothing else is wider.
    const callers = samples.filter(
      ({ top, left, right }) => top < spin.top && left <= spin.left && right >= spin.right,
    );
    const all = drawn.filter(isSample);
    expect(callers).toHaveLength((spin.top - Math.min(...samples.map(({ top }) => top))) / 12);
    // Samples of optimised code may count as those of the caller.
    const sum = outermost.reduce((width, box) => width + widthOf(box), 0);
    const others = all.filter((box) => !samples.includes(box));
    expect(others.filter((box) => widthOf(box) > sum)).toEqual([]);
    expect(sum / widthOf(request)).toBeGreaterThan(0.5);
    expect(opened.complaints).toEqual([]);
  });

  it('say where the function is when they are clicked, and lead to its span', async () => {
    const opened = await traces.open();
    const drawn = await showSamples(opened);
    const { spin } = burningIn(drawn);
    const { page } = opened;
    await page.locator('#time-line').click(pointOf(spin));
    const details = page.locator('#details');
    await details.getByRole('heading', { name: 'spin' }).waitFor();
    expect(await details.innerText()).toContain(`${traces.directory}/shop.cjs:3`);
    // The one above it is its caller.
    await page.keyboard.press('Shift+ArrowUp');
    await details.getByRole('heading', { name: 'price' }).waitFor();
    if (hasSpans) {
      await details.getByRole('button', { name: 'GET /burn' }).click();
      await details.getByRole('heading', { name: 'GET /burn' }).waitFor();
    } else {
      await details.getByText('none, or more than one').waitFor();
    }
  });

  it('keep the scale of the spans when one zooms, and go when they are not wanted', async () => {
    const opened = await traces.open();
    const drawn = await showSamples(opened);
    const { spin } = burningIn(drawn);
    const { page, boxes } = opened;
    await page.locator('#time-line').hover(pointOf(spin));
    await page.mouse.wheel(0, -300);
    await expect
      .poll(async () => widthOf(burningIn(await boxes()).spin))
      .toBeGreaterThan(widthOf(spin) * 1.3);
    await page.getByRole('button', { name: 'Samples' }).click();
    await expect.poll(async () => (await boxes()).filter(isSample)).toEqual([]);
  });
});
