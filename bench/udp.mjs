// A million Heph events over UDP: what was sent, what arrived, and what the reader knows to be missing.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { openTrace } from 'tracewright/heph';
import { main } from './benchmark.mjs';

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {number} [busyMs] how long of every 100 ms the receiver looks away.
 * @property {number} [perMs] events a millisecond; as fast as it goes unless set.
 * @property {boolean} [nobody] no receiver at all.
 */

/** @type {Case[]} */
const cases = [
  { name: '200,000 events/s', perMs: 200 },
  { name: 'at full speed' },
  { name: '200,000 events/s, receiver away 90 of 100 ms', perMs: 200, busyMs: 90 },
  { name: 'at full speed, receiver away 90 of 100 ms', busyMs: 90 },
  { name: 'at full speed, nobody listens', nobody: true },
];

/**
 * @param {Case} which
 * @param {number} events
 */
async function send({ name, busyMs = 0, perMs = 0, nobody = false }, events) {
  const receiver = fork(new URL('udp-receiver.mjs', import.meta.url), ['--busy-ms', `${busyMs}`]);
  const [{ port }] = await once(receiver, 'message');
  const gone = once(receiver, 'exit');
  if (nobody) {
    receiver.kill();
    await gone;
  }
  const trace = openTrace({ udp: { host: '127.0.0.1', port } });
  const stream = trace.stream();
  const span = stream.span('request', { method: 'string', status: 'u64' });
  let longestSlice = 0;
  const from = performance.now();
  let sent = 0;
  while (sent < events) {
    const due = perMs === 0 ? events : Math.floor((performance.now() - from) * perMs);
    const slice = Math.min(events - sent, due - sent, 1000);
    const began = performance.now();
    for (let i = 0; i < slice; i++) span.finish(stream.startTrace(), 'GET', 200);
    longestSlice = Math.max(longestSlice, performance.now() - began);
    sent += slice;
    if (perMs !== 0) await turn();
  }
  const ms = performance.now() - from;
  try {
    await trace.flush();
  } catch {
    // Where nobody listens not everything can be handed over.
  }
  await trace.close();
  const { recorded, written, dropped, errors } = trace.stats();
  let received = { datagrams: 0, events: 0, gaps: 0, next: 0 };
  if (!nobody) {
    receiver.send('report');
    [received] = await once(receiver, 'message');
    await gone;
  }
  const tail = sent - received.next;
  const lost = sent - received.events;
  return {
    row: [
      name,
      (sent / ms) * 1000,
      longestSlice,
      sent,
      written.events,
      dropped.events,
      errors,
      received.events,
      received.gaps,
      tail,
      lost,
      received.gaps + tail === lost,
    ],
    adds: received.gaps + tail === lost && recorded === sent,
    lost,
  };
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const rows = [];
  const goals = [];
  for (const each of cases) {
    const { row, adds } = await send(each, quick ? 100_000 : 1_000_000);
    rows.push(row);
    goals.push({
      goal: `${each.name}: gaps + tail = lost, and all are accounted for`,
      figure: adds,
      met: adds,
    });
  }
  return {
    tables: [
      {
        title: 'Heph events over UDP to a receiver on the same machine, policy drop',
        columns: [
          'case',
          'events/s',
          'longest ms for 1,000',
          'finished',
          'sent',
          'dropped',
          'errors',
          'received',
          'gaps',
          'tail',
          'lost',
          'gaps + tail = lost',
        ],
        rows,
      },
    ],
    goals,
    notes: [
      'Sent: handed to the network in datagrams of up to 1,400 bytes. Dropped: the ring was full, or the network refused the datagram. Errors: calls that the network refused, because nobody listens. Gaps: counters that the receiver did not see between two that it saw. Tail: counters after the last that it saw.',
    ],
  };
}

await main(import.meta.url, { title: 'A million events over UDP', measure });
