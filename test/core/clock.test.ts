import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { core } from '../../src/core/addon.js';
import { openTrace } from '../../src/heph/index.js';
import { readPackets } from '../../src/heph/read/reader.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-clock-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Far above what the scaled clock is ever off by, far below what an uncorrected one would be. */
const TOLERANCE_NS = 50_000n;

it('the scaled clock keeps to the kernel clock for seconds', async () => {
  // An open ring keeps the background thread at hand, which keeps the clock's line true.
  const trace = openTrace(join(folder, 'seconds.heph'), { clock: 'scaled' });
  const stream = trace.stream();
  let worst = 0n;
  for (let i = 0; i < 300; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    stream.finishTrace(stream.startTrace(), 'awake');
    // The tightest of three brackets: a preempted one says nothing.
    let error: bigint | undefined;
    for (let tries = 0; tries < 3; tries++) {
      const before = process.hrtime.bigint();
      const now = core.clockNow();
      const after = process.hrtime.bigint();
      const off = now < before ? before - now : now > after ? now - after : 0n;
      if (error === undefined || off < error) error = off;
    }
    if (error! > worst) worst = error!;
  }
  await trace.close();
  expect(worst).toBeLessThan(TOLERANCE_NS);
});

it.each(['scaled', 'monotonic'] as const)('stamps never go back: %s', async (clock) => {
  const path = join(folder, `${clock}.heph`);
  const trace = openTrace(path, { clock });
  const stream = trace.stream();
  const span = stream.span('x', {});
  let last = -1;
  const until = performance.now() + 700;
  while (performance.now() < until) {
    for (let i = 0; i < 200; i++) {
      const timing = stream.startTrace()!;
      if (timing < last) throw new Error(`${timing} after ${last}`);
      last = timing;
      if (i % 50 === 0) span.finish(timing);
    }
  }
  await trace.close();
  let end = 0n;
  for (const packet of readPackets(path)) {
    if (packet.kind !== 'event') continue;
    if (packet.end < packet.start) throw new Error('ends before it starts');
    if (packet.end < end) throw new Error('ends before the one before');
    end = packet.end;
  }
  expect(end).toBeGreaterThan(0n);
});

it('the epoch is the wall clock at which the times begin', async () => {
  const path = join(folder, 'epoch.heph');
  const before = BigInt(Date.now()) * 1_000_000n;
  const trace = openTrace(path);
  const stream = trace.stream();
  const timing = stream.startTrace();
  stream.finishTrace(timing, 'x');
  await trace.close();
  const after = BigInt(Date.now() + 1) * 1_000_000n;
  let epoch = 0n;
  for (const packet of readPackets(path)) {
    if (packet.kind === 'metadata') epoch = packet.epoch!;
    else {
      const start = epoch + packet.start;
      expect(start >= before && start <= after).toBe(true);
    }
  }
  expect(epoch).toBeGreaterThan(0n);
});
