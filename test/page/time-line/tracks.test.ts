import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Comm, Datatype } from '../../../src/dumpi/constants.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import { openKernelEvents } from '../../../src/laplace/index.js';
import type { RecordingAnswer } from '../../../src/look/wire/answers.js';
import type { TimeLineCanvas } from '../../../src/page/time-line/picture.js';
import { main } from '../../cli/run-command.js';
import { noBrowser, titleOf } from '../browser.js';
import { ViewedTraces } from '../viewed-traces.js';

/**
 * Serves a request, blocks its loop, collects garbage, and lives long enough for a record of its loop. It blocks
 * for longer than its start could take on a machine that has too much to do.
 */
const SERVICE = `
  const http = require('node:http');
  const server = http.createServer((request, response) => {
    if (request.url === '/b') for (const end = Date.now() + 2000; Date.now() < end;);
    setTimeout(() => response.end('ok'), 50);
  });
  server.listen(0, '127.0.0.1', () => {
    get('/a', () => {});
  });
  const get = (path, onEnd) => {
    const { port } = server.address();
    http.get({ port, path }, (response) => response.resume().on('end', onEnd));
  };
  setTimeout(() => {
    get('/b', () => {
      gc();
      setTimeout(() => process.exit(), 500);
    });
  }, 1000);`;

function recordService(directory: string): string {
  const hook = pathToFileURL(join(dirname(main), '../node/register.js')).href;
  const env = {
    ...process.env,
    TRACEWRIGHT_DIR: directory,
    TRACEWRIGHT_QUIET: '1',
    // The states of its threads are in ovni.
    TRACEWRIGHT_FORMATS: 'heph,ovni',
  };
  const program = `${directory}.cjs`;
  writeFileSync(program, SERVICE);
  const args = ['--expose-gc', '--import', hook, program];
  const { status, stderr } = spawnSync(process.execPath, args, {
    // Of a quick machine's collections, too.
    env: { ...env, TRACEWRIGHT_ENABLED: '1', TRACEWRIGHT_STALL_MS: '50', TRACEWRIGHT_GC_MS: '0' },
    encoding: 'utf8',
  });
  // Whatever is not traced has a warning that says why.
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return directory;
}

function recordRanks(directory: string): string {
  mkdirSync(directory);
  const config = { timestamps: 'full' } as const;
  // The ranks of a run have one start time. Opened in different seconds they would be two runs.
  const startTime = new Date();
  const ranks = [0, 1].map((rank) => openRank({ directory, rank, size: 2, startTime, config }));
  const [first, second] = ranks as [Rank, Rank];
  const message = { count: 4, datatype: Datatype.INT, tag: 7, comm: Comm.WORLD };
  first.log('MPI_Send', { ...message, dest: 1 });
  second.log('MPI_Recv', { ...message, source: 0, status: null });
  for (const rank of ranks) rank.close();
  return directory;
}

function recordKernel(path: string): string {
  const events = openKernelEvents(path);
  events.schedule(100n, 1);
  events.schedule(250n, 2);
  events.schedule(400n, 1);
  events.close();
  return path;
}

const paths = { service: '', ranks: '', kernel: '' };
const traces = new ViewedTraces((directory) => {
  paths.service = recordService(join(directory, 'service'));
  paths.ranks = recordRanks(join(directory, 'ranks'));
  paths.kernel = recordKernel(join(directory, 'run.kernel.txt'));
  return Object.values(paths);
});

async function recordingOf(): Promise<RecordingAnswer> {
  const { port, token } = traces.view;
  const headers = { 'x-tracewright-token': token };
  const answer = await fetch(`http://127.0.0.1:${port}/data/recording`, { headers });
  return (await answer.json()) as RecordingAnswer;
}

describe.skipIf(noBrowser !== undefined)(titleOf('the tracks of each format'), () => {
  it('are there, with curves, and have boxes', async () => {
    const { sources, tracks, counters } = await recordingOf();
    const of = (format: string): string[] => {
      const numbers = sources.filter((each) => each.format === format).map(({ number }) => number);
      const names = tracks.filter(({ source }) => numbers.includes(source)).map(({ name }) => name);
      return names.map((name) => name.replace(/ \(thread \d+\)$/, ''));
    };
    expect(of('ovni')).toEqual(['main']);
    expect(of('Heph')).toContain('main');
    expect(of('DUMPI')).toEqual(['MPI rank 0', 'MPI rank 1']);
    expect(of('laplace-kernel')).toEqual(['task 1', 'task 2']);
    expect(counters.map(({ name }) => name.replace(/ \(thread \d+\)$/, ''))).toEqual(
      expect.arrayContaining([
        'requests in flight',
        'event loop utilisation',
        'event loop delay',
        'garbage collection',
      ]),
    );
    const { page } = await traces.open({ height: 1400 });
    await page.waitForTimeout(500);
    const drawn = await page.evaluate(tracksOfPage);
    // States of threads that have spans are not drawn.
    const shown = tracks.filter(({ kind }) => kind !== 'states').map(({ number }) => number);
    expect(drawn.toSorted()).toEqual(shown.toSorted());
  });

  it('of a service: a stall says its cause, and which request was open meanwhile', async () => {
    const view = await traces.start([paths.service]);
    const { page } = await traces.open({}, '/overview', view);
    await page.getByText('More figures').click();
    const longest = page.locator('#section-interruptions a');
    await longest.filter({ hasText: 'event loop blocked' }).click();
    const details = page.locator('#details');
    // On a machine that has too much to do, not the code takes the most of the time.
    await details
      .getByText(/^(code: the program's own|held: the thread|stop: the process)/)
      .waitFor();
    expect(await details.getByRole('button', { name: 'Show its trace' }).count()).toBe(0);
    const fields = await details.locator('tr').allInnerTexts();
    expect(fields).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^process\s+\d+ on .* in .*\.heph$/),
        expect.stringMatching(/^thread\s+main$/),
      ]),
    );
    await details.getByRole('button', { name: 'GET /b' }).click();
    await details.getByRole('heading', { name: 'GET /b' }).waitFor();
  });

  it('of a service: the table has its spans, and the states of its threads when asked', async () => {
    const view = await traces.start([paths.service]);
    const { page } = await traces.open({}, '/find?table.sort=name', view);
    const table = page.locator('#view-find');
    await table.getByText('Without the states and marks of threads').waitFor();
    const rows = table.getByRole('grid');
    const spans = Number(await rows.getAttribute('aria-rowcount'));
    await table.getByRole('button', { name: 'Include them' }).click();
    await table.getByText('With the states and marks').waitFor();
    await expect
      .poll(async () => Number(await rows.getAttribute('aria-rowcount')))
      .toBeGreaterThan(spans);
    await table.getByRole('button', { name: 'Leave them out' }).click();
    await expect.poll(async () => Number(await rows.getAttribute('aria-rowcount'))).toBe(spans);
  });

  it('of a service: only its spans are compared, not the states and marks of its threads', async () => {
    const sides = '/compare?compare.before=service&compare.after=ranks';
    const { page } = await traces.open({}, sides);
    await page.locator('#view-compare').getByText('MPI_Send').waitFor();
    const names = await page.locator('#view-compare tbody th').allTextContents();
    expect(names).toEqual(expect.arrayContaining(['GET', 'event loop blocked', 'gc major']));
    expect(names).not.toContain('running');
    // Once each, with all of their functions together.
    const rows = await page.locator('#view-compare tbody tr').allInnerTexts();
    const ofAll = rows.filter((row) => /^(gc major|event loop blocked)\t\t/.test(row));
    expect(ofAll).toHaveLength(2);
  });

  it('connect the call that sends a message with the one that receives it', async () => {
    const view = await traces.start([paths.ranks]);
    const { page, boxes } = await traces.open({}, '/time-line', view);
    const drawn = await boxes();
    const tops = [...new Set(drawn.map(({ top }) => top))].sort((a, b) => a - b);
    expect(tops).toHaveLength(2);
    // Between the tracks there is nothing but the arrow.
    await page.waitForFunction(isDarkSomewhere, tops[1]! - 2);
  });
});

/** Runs in the browser. @returns whether a line of the time line has a pixel as dark as text. */
function isDarkSomewhere(y: number): boolean {
  const canvas = document.querySelector<TimeLineCanvas>('#time-line')!;
  const { data } = canvas.getContext('2d')!.getImageData(241, y, canvas.width - 242, 1);
  for (let at = 0; at < data.length; at += 4) {
    if (data[at]! + data[at + 1]! + data[at + 2]! < 300) return true;
  }
  return false;
}

/** Runs in the browser. @returns the tracks that have boxes. */
function tracksOfPage(): number[] {
  const { picture } = document.querySelector<TimeLineCanvas>('#time-line')!;
  return [...new Set(picture!.track.subarray(0, picture!.size))];
}
