import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { textReport } from '../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { main } from '../../cli/run-command.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { reportOn } from './recorded-service.js';

const directory = temporaryDirectory();

/** Records requests, and writes into a log of its own when each has ended, in ns since 1970. */
const PROGRAM = `
  import { writeFileSync } from 'node:fs';
  import { configure, flush, startSpan } from ${JSON.stringify(
    pathToFileURL(join(dirname(main), '../spans/index.mjs')).href,
  )};
  const [target, log] = process.argv.slice(1);
  configure({ target, service: 'shop' });
  const ended = [];
  const job = startSpan('job', {}, { parent: null });
  for (let at = 0; at < 40; at++) {
    // The first half is ten times as slow as the second.
    for (let span = 0; span < (at < 20 ? 100 : 1000); span++) {
      const request = startSpan('GET /', {}, { parent: null, kind: 'server' });
      startSpan('SELECT', {}, { parent: request }).end();
      request.end();
      ended.push(performance.timeOrigin + performance.now());
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  job.end();
  const last = performance.timeOrigin + performance.now();
  await flush();
  writeFileSync(log, JSON.stringify({ ended, last }));`;

it('figures are of what a budget has left', async () => {
  const traces = mkdtempSync(join(directory, 'traces-'));
  const log = join(directory, 'log.json');
  const target = join(traces, 'shop.heph');
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, target, log], {
    env: {
      ...process.env,
      TRACEWRIGHT_RING_BYTES: String(64 << 10),
      TRACEWRIGHT_MAX_BYTES: String(2 << 20),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
  const { ended, last } = JSON.parse(readFileSync(log, 'utf8')) as {
    ended: number[];
    last: number;
  };
  const { report } = await reportOn([traces]);
  const [requests] = report.groups;
  const { count, rate } = requests!;
  expect(count).toBeGreaterThan(1000);
  expect(count).toBeLessThan(ended.length / 2);

  const seconds = (last - ended.at(-count)!) / 1000;
  expect(Math.abs(rate / (count / seconds) - 1)).toBeLessThan(0.03);
  const [source] = report.sources;
  expect(source!.recorded / 1e9).toBeCloseTo(seconds, 1);
  expect(source!.deleted!.pieces).toBeGreaterThan(0);
  // Two of each request that is gone, and what the thread said of itself.
  const records = 2 * (ended.length - count);
  expect(source!.deleted!.records).toBeGreaterThanOrEqual(records - 1);
  expect(source!.deleted!.records).toBeLessThanOrEqual(records + 5);
  // The job was open all the time.
  expect(report.threads.map(({ share }) => share)).toEqual([expect.closeTo(1, 2)]);
  // It, and a request with its query, at most.
  const { begunBefore, incompleteTraces } = report.completeness;
  expect([1, 3]).toContain(begunBefore);
  expect(incompleteTraces).toBe((begunBefore + 1) / 2);

  const text = [...textReport(report, textStyle(200, false))].join('\n');
  expect(text).toMatch(/earlier pieces? of .* deleted, with [\d,]+ records or more/);
  expect(text).toMatch(/spans? began before what is left of the recording/);
  expect(text).toMatch(/Rates are of the time in which the service was recorded: shop .* of \d/);
});
