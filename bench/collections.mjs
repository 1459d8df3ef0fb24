// What a service leaves for the garbage collector: from the lines that V8 prints with --trace-gc-nvp.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, signal, startLoad, startService } from './http-turns.mjs';
import { median } from './median.mjs';

/** Names and values since Node 26 as JSON, before that as `name=value`. */
const COLLECTION = /[ "]gc"?[=:]"?\w+/;
const ASKED_MS = 50;

/** @param {NodeJS.ReadableStream} output of a process; it is added up. */
function countCollections(output) {
  const sums = { allocated: 0, promoted: 0, us: 0, count: 0 };
  const figure = (/** @type {string} */ line, /** @type {string} */ name) =>
    Number(new RegExp(`[ "]${name}"?[=:]([\\d.]+)`).exec(line)?.[1] ?? 0);
  createInterface({ input: output }).on('line', (line) => {
    if (!COLLECTION.test(line)) return;
    sums.allocated += figure(line, 'allocated');
    sums.promoted += figure(line, 'promoted');
    sums.us += 1000 * figure(line, 'pause');
    sums.count += 1;
  });
  return sums;
}

/**
 * @param {import('./http-turns.mjs').Variant} variant
 * @param {{ warmUp: number, counted: number }} requests
 */
async function measureProcess(variant, { warmUp, counted }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const flags = ['--trace-gc-nvp', ...variant.flags];
  const { child, port } = await startService({ ...variant, flags, output: 'pipe' }, directory);
  const sums = countCollections(child.stdout);
  const load = await startLoad(port, variant.path ?? '/', 0);
  const until = async (/** @type {number} */ requests) => {
    for (;;) {
      const now = await ask(child);
      if (now.requests >= requests) return { ...now, ...sums };
      await sleep(ASKED_MS);
    }
  };
  try {
    signal(load, 'SIGCONT');
    const from = await until(warmUp);
    const to = await until(from.requests + counted);
    const each = (/** @type {keyof typeof to} */ name) =>
      (to[name] - from[name]) / (to.requests - from.requests);
    return {
      cpuUs: each('cpuUs'),
      allocated: each('allocated'),
      promoted: each('promoted'),
      collectionUs: each('us'),
      collections: to.count - from.count,
    };
  } finally {
    signal([child, ...load], 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * What a request of each service costs, and what it leaves to the collector. Each process serves the same number of
 * requests; the median of several is taken.
 *
 * @param {readonly import('./http-turns.mjs').Variant[]} variants
 * @param {{ warmUp: number, counted: number, processes: number }} how
 */
export async function measureCollections(variants, { processes, ...requests }) {
  /** @type {Awaited<ReturnType<typeof measureProcess>>[][]} */
  const found = variants.map(() => []);
  for (let i = 0; i < processes; i++) {
    for (const [at, variant] of variants.entries()) {
      found[at].push(await measureProcess(variant, requests));
    }
  }
  return variants.map(({ name }, at) => {
    const middle = (/** @type {keyof (typeof found)[0][0]} */ key) =>
      median(found[at].map((each) => each[key]));
    return {
      name,
      cpuUs: middle('cpuUs'),
      allocated: middle('allocated'),
      promoted: middle('promoted'),
      collectionUs: middle('collectionUs'),
      collections: middle('collections'),
    };
  });
}
