import { setTimeout as sleep } from 'node:timers/promises';
import { probe, undisturbed } from './core-probe.mjs';
import { median, quantile } from './median.mjs';

/**
 * One of the things that are compared.
 *
 * @typedef {object} Peer
 * @property {string} name
 * @property {(operations: number) => unknown} run does the operations, and nothing else.
 * @property {() => unknown} [settle] what must not be measured: writing the ring out, exporting.
 */

/**
 * What a peer cost, in nanoseconds an operation: one number a round. `quiet` says whether the core
 * was undisturbed before and after.
 *
 * @typedef {Map<string, { ns: number[], quiet: boolean[] }>} Costs
 */

/** With fewer undisturbed batches than these, all batches count. */
const ENOUGH = 20;
/** How long a measurement waits in total for the core to be undisturbed. */
const PATIENCE_MS = 20_000;

/** @param {() => unknown} run */
function wallNs(run) {
  const from = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - from);
}

/**
 * Measures peers side by side on a machine that is not quiet: short batches in turn, so that all
 * peers see the same minutes; in every round another peer begins. What a peer leaves to be written
 * is written between the batches, so that no batch waits for a disk or a queue. A batch waits until
 * the core is undisturbed, but all batches together wait for at most `PATIENCE_MS`.
 *
 * @param {readonly Peer[]} peers
 * @param {object} settings
 * @param {number} settings.operations
 * @param {number} settings.rounds
 * @param {number} [settings.warmUpRounds]
 * @param {number} [settings.pauseMs]
 * @param {(run: () => unknown) => number | Promise<number>} [settings.time] nanoseconds of a run;
 *   default: on the clock of the wall.
 * @returns {Promise<Costs>}
 */
export async function alternate(
  peers,
  { operations, rounds, warmUpRounds = 20, pauseMs = 400, time = wallNs },
) {
  /** @type {Map<string, { ns: number[], probes: number[] }>} */
  const batches = new Map(peers.map(({ name }) => [name, { ns: [], probes: [] }]));
  let patienceMs = PATIENCE_MS;
  const probeUntilQuiet = () => {
    const from = performance.now();
    let ns = probe();
    while (!undisturbed(ns) && performance.now() - from < patienceMs) ns = probe();
    patienceMs -= performance.now() - from;
    return ns;
  };
  for (let round = -warmUpRounds; round < rounds; round++) {
    // The drain thread needs two of its rounds of 80 ms to calibrate the clock of new rings.
    if (round === 0) await sleep(pauseMs);
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[(i + Math.max(round, 0)) % peers.length];
      const settled = peer.settle?.();
      if (settled instanceof Promise) await settled;
      const before = round < 0 ? probe() : probeUntilQuiet();
      const timed = time(() => peer.run(operations));
      const ns = (typeof timed === 'number' ? timed : await timed) / operations;
      const after = probe();
      if (round < 0) continue;
      batches.get(peer.name)?.ns.push(ns);
      batches.get(peer.name)?.probes.push(Math.max(before, after));
    }
  }
  for (const { settle } of peers) await settle?.();
  return new Map(
    [...batches].map(([name, { ns, probes }]) => [name, { ns, quiet: probes.map(undisturbed) }]),
  );
}

/**
 * The batches that count: the undisturbed ones, or all where those are too few.
 *
 * @param {Costs} costs
 * @param {string} name
 */
function counting(costs, name) {
  const { ns, quiet } = /** @type {{ ns: number[], quiet: boolean[] }} */ (costs.get(name));
  const chosen = ns.filter((_, round) => quiet[round]);
  return chosen.length >= ENOUGH ? chosen : ns;
}

/**
 * What a peer costs in nanoseconds an operation: the median of its batches.
 *
 * @param {Costs} costs
 * @param {string} name
 */
export function cost(costs, name) {
  return median(counting(costs, name));
}

/**
 * How often a peer costs what another one does: the median of the quotients of the batches of one
 * round, which lie next to each other in time.
 *
 * @param {Costs} costs
 * @param {string} name
 * @param {string} base
 */
export function ratio(costs, name, base) {
  const ours = /** @type {{ ns: number[], quiet: boolean[] }} */ (costs.get(name));
  const theirs = /** @type {{ ns: number[], quiet: boolean[] }} */ (costs.get(base));
  const all = ours.ns.map((ns, round) => ns / theirs.ns[round]);
  const quiet = all.filter((_, round) => ours.quiet[round] && theirs.quiet[round]);
  return median(quiet.length >= ENOUGH ? quiet : all);
}

/**
 * A table of the costs; its last columns say what each peer costs relative to others.
 *
 * @param {string} title
 * @param {Costs} costs
 * @param {readonly string[]} bases
 * @returns {import('./benchmark.mjs').Table}
 */
export function costTable(title, costs, bases) {
  return {
    title,
    columns: [
      '',
      'median ns',
      'min ns',
      'p90 ns',
      'batches',
      'median of all ns',
      ...bases.map((base) => `x ${base}`),
    ],
    rows: [...costs].map(([name, { ns }]) => {
      const counted = counting(costs, name);
      return [
        name,
        median(counted),
        Math.min(...counted),
        quantile(counted, 0.9),
        `${counted.length} of ${ns.length}`,
        median(ns),
        ...bases.map((base) => (name === base ? 1 : ratio(costs, name, base))),
      ];
    }),
  };
}
