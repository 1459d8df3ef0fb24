// A backlog: a file of spans that is many times as large as the memory that ship may take. Ship is killed in the
// middle, and must go on within a second. It has the flag and the variable that the hook gives it. Says how much memory
// it took.
//
//   node torture/backlog.mjs [--gigabytes N]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { readOptions } from './options.mjs';

const values = readOptions(
  `usage: npm run torture:backlog -- [--gigabytes N]

  --gigabytes N  how large the file of spans is: 10 unless set
`,
  { gigabytes: { type: 'string', default: '10' } },
);
const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const MOST_MEMORY = 100 << 20;
const SMALL_HEAP = '--max-semi-space-size=2';
const FEW_ARENAS = { MALLOC_ARENA_MAX: '2' };
const MOST_RESUME_MS = 1000;
const BYTES = Number(values.gigabytes) * 1e9;

const RECORDER = `
  import { statSync } from 'node:fs';
  import { configure, flush, shutdown, startSpan } from 'tracewright/spans';
  configure({ target: process.argv[1], service: 'backlog' });
  const padding = 'x'.repeat(400);
  do {
    for (let n = 0; n < 20000; n++) startSpan('GET /orders/:id', { n, padding }).end();
    await flush();
  } while (statSync(process.argv[1]).size < Number(process.argv[2]));
  await shutdown();`;

const directory = mkdtempSync(join(tmpdir(), 'tracewright-backlog-'));
let requests = 0;
let onRequest = () => undefined;
const server = createServer((request, response) => {
  requests++;
  onRequest();
  request.resume().on('end', () => response.end());
});

/** The memory of a process in bytes. */
function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

function ship(...args) {
  const checkpoint = ['--checkpoint', join(directory, 'checkpoint')];
  const to = ['--to', `http://127.0.0.1:${server.address().port}`];
  const all = [COMMAND, 'ship', join(directory, 'traces'), ...to, ...checkpoint, ...args];
  return spawn(process.execPath, [SMALL_HEAP, ...all], {
    env: { ...process.env, ...FEW_ARENAS },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

try {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  mkdirSync(join(directory, 'traces'));
  const trace = join(directory, 'traces', 'backlog.heph');
  const code = ['--input-type=module', '-e', RECORDER, trace, String(BYTES)];
  await once(spawn(process.execPath, code, { stdio: 'inherit' }), 'exit');
  const first = ship();
  while (requests < 200) await once(server, 'request');
  first.kill('SIGKILL');
  await once(first, 'exit');
  const from = performance.now();
  let resumedMs;
  let most = 0;
  onRequest = () => (resumedMs ??= performance.now() - from);
  const second = ship('--once');
  let output = '';
  second.stderr.on('data', (text) => (output += text));
  const timer = setInterval(() => {
    most = Math.max(most, memoryOf(second.pid));
  }, 100);
  const [status] = await once(second, 'exit');
  clearInterval(timer);
  const MiB = (bytes) => (bytes / (1 << 20)).toFixed(0);
  console.log(
    `${(statSync(trace).size / 1e9).toFixed(1)} GB, ${((performance.now() - from) / 1000).toFixed(0)} s: ` +
      `at most ${MiB(most)} MiB; went on ${resumedMs.toFixed(0)} ms after its start\n${output}`,
  );
  const isRight = status === 0 && most < MOST_MEMORY && resumedMs < MOST_RESUME_MS;
  if (!isRight) process.exitCode = 1;
} finally {
  server.close();
  rmSync(directory, { recursive: true, force: true });
}
