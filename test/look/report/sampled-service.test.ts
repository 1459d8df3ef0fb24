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

/** Serves so many requests, each of which calls another service if its headers are asked for; logs what it did. */
const PROGRAM = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { configure, extract, flush, inject, startSpan, withSpan } from ${JSON.stringify(
    pathToFileURL(join(dirname(main), '../spans/index.mjs')).href,
  )};
  const [target, service, ratio, log, callers] = process.argv.slice(1);
  configure({ target, service, ...(ratio === '' ? {} : { sample: Number(ratio) }) });
  const calls = callers === undefined ? new Array(4000).fill(undefined) : JSON.parse(readFileSync(callers, 'utf8')).headers;
  const begun = performance.now();
  const headers = [];
  let failed = 0;
  for (const [at, call] of calls.entries()) {
    const parent = call === undefined ? null : extract(call);
    const request = startSpan('GET /', {}, { kind: 'server', parent });
    const carrier = {};
    withSpan('GET', {}, () => inject(carrier), { kind: 'client', parent: request });
    headers.push(carrier);
    if (at % 10 === 0) { request.fail(new Error('no')); failed += 1; }
    request.end();
    if (at % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const seconds = (performance.now() - begun) / 1000;
  await flush();
  writeFileSync(log, JSON.stringify({ requests: calls.length, failed, seconds, headers }));`;

interface Log {
  requests: number;
  failed: number;
  seconds: number;
}

async function run(traces: string, service: string, ratio: string, callers?: string): Promise<Log> {
  const log = join(directory, `${service}.json`);
  const target = join(traces, `${service}.heph`);
  const args = [target, service, ratio, log, ...(callers === undefined ? [] : [callers])];
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
  return JSON.parse(readFileSync(log, 'utf8')) as Log;
}

it('a sampled service is said to be, and its counts and rates are estimates of all', async () => {
  const traces = mkdtempSync(join(directory, 'traces-'));
  const shop = await run(traces, 'shop', '0.25');
  // It records what its caller has decided, and knows no ratio itself.
  await run(traces, 'stock', '', join(directory, 'shop.json'));
  const { report } = await reportOn([traces]);
  expect(report.sources.map(({ sampled }) => sampled)).toEqual([{ ratio: 0.25 }, { ratio: 0.25 }]);
  for (const { count, recorded, errors, rate, service } of report.groups) {
    // Within five standard deviations.
    expect(Math.abs(recorded - 1000)).toBeLessThan(5 * Math.sqrt(4000 * 0.25 * 0.75));
    expect(count).toBe(4 * recorded);
    expect(Math.abs(errors - shop.failed)).toBeLessThan(4 * 5 * Math.sqrt(400 * 0.25 * 0.75));
    if (service !== 'shop') continue;
    expect(Math.abs(rate / (shop.requests / shop.seconds) - 1)).toBeLessThan(0.3);
  }
  const text = [...textReport(report, textStyle(200, false))].join('\n');
  expect(text).toContain('shop is sampled: it records 25 % of its traces.');
});

it('several ratios of one service are not scaled', async () => {
  const traces = mkdtempSync(join(directory, 'traces-'));
  await run(traces, 'shop', '0.5');
  const other = mkdtempSync(join(directory, 'traces-'));
  await run(other, 'shop', '0.1');
  const { report } = await reportOn([traces, other]);
  const [group] = report.groups;
  expect(group!.count).toBe(group!.recorded);
  const text = [...textReport(report, textStyle(200, false))].join('\n');
  expect(text).toContain('shop is sampled, and the share that is recorded is not known');
});
