// What a service under load keeps: its memory after many requests, less that after fewer.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, signal, startLoad, startService } from './http-turns.mjs';

const ASKED_MS = 50;
/** Clients have timers for some seconds after a command. */
const REST_MS = 7000;
const MB = 1e6;

/**
 * What each service keeps after its first requests, and how much more after many others.
 *
 * @param {readonly import('./http-turns.mjs').Variant[]} variants
 * @param {{ warmUp: number, counted: number }} requests
 */
export async function measureMemory(variants, { warmUp, counted }) {
  const rows = [];
  for (const variant of variants) {
    const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
    const flags = ['--expose-gc', ...variant.flags];
    const { child, port } = await startService({ ...variant, flags }, directory);
    const load = await startLoad(port, variant.path ?? '/', 0);
    const keptAfter = async (/** @type {number} */ requests) => {
      signal(load, 'SIGCONT');
      while ((await ask(child)).requests < requests) await sleep(ASKED_MS);
      signal(load, 'SIGSTOP');
      await sleep(REST_MS);
      const answer = once(child, 'message');
      child.send('memory');
      const [memory] = await answer;
      return memory;
    };
    try {
      const from = await keptAfter(warmUp);
      const to = await keptAfter(warmUp + counted);
      rows.push({
        name: variant.name,
        keptMb: from.keptBytes / MB,
        moreMb: (to.keptBytes - from.keptBytes) / MB,
        rssMb: from.rss / MB,
        moreRssMb: (to.rss - from.rss) / MB,
      });
    } finally {
      signal([child, ...load], 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return rows;
}
