// What the patterns of `redact.paths` cost: time of one path, and the longest of paths made to take long.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configure, shutdown, startSpan } from 'tracewright/spans';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const ORDINARY = '/users/42/orders/1b4e28ba-2fa1-11d2-883f-0016d3cca427/items';
const CASES = [
  ['\\d+', ORDINARY],
  ['\\/[0-9a-f-]{36}(?=\\/|$)', ORDINARY],
  ['\\d+', `/${'7x'.repeat(120)}`],
  ['(a+)+$', `/${'a'.repeat(28)}!`],
  ['(a+)+$', `/${'a'.repeat(280)}!`],
  ['(.*)(.*)(.*)x', `/${'a'.repeat(280)}`],
  ['(\\w+\\s?)*$', `/${'ab '.repeat(90)}!`],
];
const LIMIT_US = 1000;

/** Medians of the µs of CPU time of a span with a path, and the µs of the longest one. */
async function timesOf(directory, paths, path, [rounds, count]) {
  configure({ target: join(directory, 'trace.heph'), redact: { paths } });
  const times = [];
  let longest = 0;
  for (let round = 0; round < rounds; round++) {
    const from = process.cpuUsage();
    for (let i = 0; i < count; i++) {
      const before = performance.now();
      startSpan('request', { attributes: { 'url.path': path } }).end();
      longest = Math.max(longest, 1000 * (performance.now() - before));
    }
    const { user, system } = process.cpuUsage(from);
    times.push((user + system) / count);
  }
  await shutdown();
  rmSync(join(directory, 'trace.heph'), { force: true });
  return { time: median(times), longest };
}

async function measure({ quick }) {
  const size = quick ? [3, 200] : [25, 4000];
  const [rounds, count] = size;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const cases = [];
  try {
    for (const [pattern, path] of CASES) {
      const plain = await timesOf(directory, [], path, size);
      const { time, longest } = await timesOf(directory, [[pattern, '*']], path, size);
      cases.push({ pattern, path, time: time - plain.time, longest });
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const worst = Math.max(...cases.map(({ time }) => time));
  return {
    tables: [
      {
        title: `A path in a span through one pattern, ${rounds} rounds of ${count}`,
        columns: ['pattern', 'characters', 'µs of CPU time added', 'longest, µs'],
        rows: cases.map(({ pattern, path, time, longest }) => [
          pattern,
          path.length,
          time,
          longest,
        ]),
      },
    ],
    goals: [{ goal: `µs a path: at most ${LIMIT_US}`, figure: worst, met: worst <= LIMIT_US }],
    notes: ['The longest time includes what else the machine did meanwhile.'],
  };
}

await main(import.meta.url, { title: 'Redaction of paths', measure });
