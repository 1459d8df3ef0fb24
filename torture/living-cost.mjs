// What an event costs its writer while nobody reads the trace, and while it is read all the time.
//
//   node torture/living-cost.mjs [--rounds N]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTrace } from 'tracewright/heph';
import { internal } from '../scripts/package-layout.mjs';
import { readOptions } from './options.mjs';

const { PacketCursor } = internal('heph/read/packet-cursor');

const values = readOptions(
  `usage: node torture/living-cost.mjs [--rounds N]

  --rounds N  processes of each kind, in turn: 10 unless set
`,
  // --write is for the processes that it starts.
  { rounds: { type: 'string', default: '10' }, write: { type: 'string' } },
);
const BURSTS = 500;
const EVENTS = 2000;

/** Nanoseconds of an event: the median of many bursts, with pauses as a service has them. */
async function write(target) {
  const trace = openTrace(target);
  const stream = trace.stream();
  const span = stream.span('e', { n: 'u64' });
  const times = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    const began = process.hrtime.bigint();
    for (let n = 0; n < EVENTS; n++) span.finish(stream.startTrace(), n);
    times.push(Number(process.hrtime.bigint() - began) / EVENTS);
    await sleep(2);
  }
  await trace.close();
  times.sort((a, b) => a - b);
  console.log(times[BURSTS >> 1]);
}

/** @returns the median, and how often the trace was read meanwhile. */
async function measure(directory, isRead) {
  const target = join(directory, 'trace.heph');
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, '--write', target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  let isOver = false;
  const closed = once(child, 'close').then(() => (isOver = true));
  let readings = 0;
  while (!existsSync(target)) await sleep(5);
  for (let since = 0; isRead && !isOver; readings++) {
    const cursor = new PacketCursor(target, { living: true, since });
    while (cursor.next());
    cursor.close();
    since = cursor.settled;
    await sleep(1);
  }
  await closed;
  rmSync(target);
  return { ns: Number(said), readings };
}

if (values.write !== undefined) {
  await write(values.write);
} else {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-living-cost-'));
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  const [alone, read] = [[], []];
  let readings = 0;
  for (let i = 0; i < Number(values.rounds); i++) {
    alone.push((await measure(directory, false)).ns);
    const round = await measure(directory, true);
    read.push(round.ns);
    readings += round.readings;
  }
  rmSync(directory, { recursive: true });
  console.log(
    `an event: ${median(alone).toFixed(1)} ns alone, ${median(read).toFixed(1)} ns while it is read ` +
      `(${readings} readings)`,
  );
}
