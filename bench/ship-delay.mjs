// From a span's end to its receipt: a service that has the hook and TRACEWRIGHT_SHIP answers 1,000 requests a second,
// and a receiver of this machine notes when each span comes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { main } from './benchmark.mjs';

const RATE = 1000;
const GOAL_MS = 2000;
const hook = new URL('../dist/node/register.js', import.meta.url).href;
const load = fileURLToPath(new URL('paced-load.mjs', import.meta.url));
const SERVICE = `
  import { createServer } from 'node:http';
  const server = createServer((request, response) => response.end('{}'));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.stdin.resume().on('end', () => process.exit());`;
/** Of a span: its end, a fixed64 that follows its start. */
const [START_TAG, END_TAG] = [0x39, 0x41];
const WORD = 9;

/** The ends of the spans of a request, in milliseconds since 1970. */
function* endsOf(bytes, since) {
  for (let at = 0; at + 2 * WORD <= bytes.length; at++) {
    if (bytes[at] !== START_TAG || bytes[at + WORD] !== END_TAG) continue;
    const end = Number(bytes.readBigUInt64LE(at + WORD + 1) / 1000n) / 1000;
    // Other bytes may look the same, and are no time of this run.
    if (end >= since && end <= Date.now() + 1000) yield end;
  }
}

async function measure({ quick }) {
  const seconds = quick ? 5 : 20;
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-delay-'));
  const since = Date.now();
  const delays = [];
  let isCounting = false;
  const receiver = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const now = Date.now();
      const body = gunzipSync(Buffer.concat(chunks));
      if (isCounting) for (const end of endsOf(body, since)) delays.push(now - end);
      response.end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const env = {
    ...process.env,
    TRACEWRIGHT_DIR: join(directory, 'run'),
    TRACEWRIGHT_SHIP: `http://127.0.0.1:${receiver.address().port}`,
    TRACEWRIGHT_FORMATS: 'heph',
    TRACEWRIGHT_QUIET: '1',
    XDG_STATE_HOME: directory,
  };
  const code = ['--import', hook, '--input-type=module', '-e', SERVICE];
  const service = spawn(process.execPath, code, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [port] = await once(service.stdout, 'data');
    const asking = spawn(process.execPath, [load, String(port).trim(), String(RATE)]);
    await sleep(2000);
    isCounting = true;
    await sleep(seconds * 1000);
    asking.kill();
    await sleep(1000);
    isCounting = false;
  } finally {
    service.stdin.end();
    await once(service, 'exit');
    // The sender's last spans.
    await sleep(2000);
    receiver.closeAllConnections();
    receiver.close();
    rmSync(directory, { recursive: true, force: true });
  }
  delays.sort((a, b) => a - b);
  const at = (share) =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? NaN;
  const p99 = at(0.99);
  return {
    tables: [
      {
        title: `From the end of a span to its receipt, in milliseconds, at ${RATE} requests a second`,
        columns: ['spans', 'median', 'p99', 'longest'],
        rows: [[delays.length, at(0.5), p99, at(1)]],
      },
    ],
    goals: [
      { goal: `p99 in ms: at most ${GOAL_MS}`, figure: p99, met: p99 <= GOAL_MS },
      {
        goal: 'spans: at least 0.9 of the requests',
        figure: delays.length,
        met: delays.length >= 0.9 * RATE * seconds,
      },
    ],
  };
}

await main(import.meta.url, { title: 'The delay of shipping', measure });
