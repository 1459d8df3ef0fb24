// Spans from disk to a socket of this machine: `tracewright ship --once`, as a whole process. A receiver takes the
// bytes and decodes none.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './benchmark.mjs';
import { median } from './median.mjs';

const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const GOALS = { plain: 400_000, gzip: 200_000, slow: 200_000 };

const RECEIVER = `
  import { createServer } from 'node:http';
  const server = createServer((request, response) => {
    request.resume().on('end', () => setTimeout(() => response.end(), Number(process.argv[1])));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.stdin.resume().on('end', () => process.exit());`;

const RECORDER = `
  import { configure, flush, shutdown, startSpan } from 'tracewright/spans';
  configure({ target: process.argv[1], service: 'bench' });
  const count = Number(process.argv[2]);
  for (let n = 0; n < count; n++) {
    startSpan('GET /orders/:id', { 'http.request.method': 'GET', n }).end();
  }
  await flush();
  await shutdown();`;

const nodeOf = (code, ...args) => [process.execPath, ['--input-type=module', '-e', code, ...args]];

async function receiver(delay) {
  const child = spawn(...nodeOf(RECEIVER, String(delay)), { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return { child, url: `http://127.0.0.1:${String(port).trim()}` };
}

/** One run of the command. Returns its spans a second. */
async function shipped(trace, count, args, delay) {
  const { child, url } = await receiver(delay);
  const code = `
    import { spawnSync } from 'node:child_process';
    const from = performance.now();
    const { status, stderr } = spawnSync(process.execPath, JSON.parse(process.argv[1]), { encoding: 'utf8' });
    const ms = performance.now() - from;
    console.log(JSON.stringify({ status, stderr, ms }));`;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-ship-'));
  try {
    const given = [command, 'ship', trace, '--to', url, '--once'];
    const all = [...given, '--checkpoint', join(directory, 'checkpoint'), ...args];
    const { stdout } = spawnSync(...nodeOf(code, JSON.stringify(all)), { encoding: 'utf8' });
    const { status, stderr, ms } = JSON.parse(stdout);
    if (status !== 0) throw new Error(`ship ended with ${status}: ${stderr}`);
    return (count / ms) * 1000;
  } finally {
    rmSync(directory, { recursive: true, force: true });
    child.stdin.end();
    await once(child, 'exit');
  }
}

async function measure({ quick }) {
  const count = quick ? 50_000 : 1_000_000;
  const rounds = quick ? 1 : 3;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-ship-'));
  const cases = [
    { name: 'plain', args: ['--compression', 'none'], delay: 0, goal: GOALS.plain },
    { name: 'gzip', args: [], delay: 0, goal: GOALS.gzip },
    {
      name: 'gzip, answers after 100 ms',
      args: ['--in-flight', '16'],
      delay: 100,
      goal: GOALS.slow,
    },
  ];
  const rates = new Map(cases.map(({ name }) => [name, []]));
  try {
    const trace = join(directory, 'spans.heph');
    const { status } = spawnSync(...nodeOf(RECORDER, trace, String(count)), { stdio: 'inherit' });
    if (status !== 0) throw new Error('the spans were not recorded');
    for (let round = 0; round < rounds; round++) {
      for (const { name, args, delay } of cases) {
        rates.get(name).push(await shipped(trace, count, args, delay));
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const rows = cases.map(({ name, goal }) => [name, Math.round(median(rates.get(name))), goal]);
  return {
    tables: [
      {
        title: `${count} spans of two attributes, from a file to a local socket, start included`,
        columns: ['requests', 'spans/s', 'goal'],
        rows,
      },
    ],
    goals: rows.map(([name, rate, goal]) => ({
      goal: `spans/s, ${name}: at least ${goal}`,
      figure: rate,
      met: rate >= goal,
    })),
    notes: ['The figure is that of a whole process, whose start takes some 0.3 s.'],
  };
}

await main(import.meta.url, { title: 'Shipping spans', measure });
