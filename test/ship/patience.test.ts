import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Shipper } from '../../src/ship/shipper.js';
import type { Outcome, ShipTarget } from '../../src/ship/target.js';
import { startSpan } from '../../src/spans/start-span.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from '../spans/span-trace.js';
import { endAll, recording } from './shipped.js';

const directory = temporaryDirectory();
afterEach(endAll);

/** A shipper whose target answers everything with one outcome, and takes one batch at a time. */
function shipperOf(path: string, outcome: Outcome, patienceMs?: number): Shipper {
  const target: ShipTarget = {
    label: 'test',
    send: () => Promise.resolve(outcome),
    close: () => Promise.resolve(),
  };
  return new Shipper(target, undefined, {
    paths: [path],
    ringDirs: [],
    owners: undefined,
    newestFirst: false,
    inFlight: 1,
    accepts: undefined,
    resource: {},
    refusedSpans: undefined,
    bytesPerSecond: Infinity,
    patienceMs,
    onMessage: () => undefined,
    onFault(fault) {
      throw fault;
    },
  });
}

/** More than one batch. */
async function recordMuch(): Promise<string> {
  const path = mkdtempSync(join(directory, 'much-'));
  const text = 'x'.repeat(1 << 14);
  await recorded(path, () => {
    for (let n = 0; n < 100; n++) startSpan('one', { n, text }).end();
  });
  return path;
}

const RETRY: Outcome = { kind: 'retry', reason: 'not now' };

describe('a target that does not answer', () => {
  it.each(['once', 'idle'] as const)('ends a run that goes on until %s', async (until) => {
    const shipper = shipperOf(await recordMuch(), RETRY, 500);
    await shipper.run(until);
    expect(shipper.isIdle).toBe(false);
    expect(shipper.counts.spans).toBe(0);
  });

  it('ends a single run at once if a setting must be changed', async () => {
    const shipper = shipperOf(await recordMuch(), { kind: 'stopped', reason: 'HTTP 401' });
    await shipper.run('once');
    expect(shipper.counts.spans).toBe(0);
  });

  it('is asked as long as a process records', async () => {
    const path = mkdtempSync(join(directory, 'living-'));
    const child = await recording({ target: join(path, 'a.heph'), padding: 1000, most: 3000 });
    const shipper = shipperOf(path, RETRY, 500);
    let hasEnded = false;
    const run = shipper.run('idle').then(() => {
      hasEnded = true;
    });
    await sleep(3000);
    expect(hasEnded).toBe(false);
    child.kill('SIGKILL');
    await run;
    expect(shipper.counts.spans).toBe(0);
  });
});
