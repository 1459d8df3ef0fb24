import { setTimeout as sleep } from 'node:timers/promises';
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
 * What a peer cost, in nanoseconds an operation: one number a round.
 *
 * @typedef {Map<string, number[]>} Costs
 */

/**
 * Measures peers side by side on a machine that is not quiet: short batches in turn, so that all
 * peers see the same minutes; in every round another peer begins. What a peer leaves to be written
 * is written between the batches, so that no batch waits for a disk or a queue.
 *
 * @param {readonly Peer[]} peers
 * @param {{ operations: number, rounds: number, warmUpRounds?: number, pauseMs?: number }} settings
 * @returns {Promise<Costs>}
 */
export async function alternate(peers, { operations, rounds, warmUpRounds = 20, pauseMs = 400 }) {
  const costs = new Map(peers.map(({ name }) => [name, /** @type {number[]} */ ([])]));
  for (let round = -warmUpRounds; round < rounds; round++) {
    // The drain thread needs two of its rounds of 80 ms to calibrate the clock of new rings.
    if (round === 0) await sleep(pauseMs);
    for (let i = 0; i < peers.length; i++) {
      const peer = peers[(i + Math.max(round, 0)) % peers.length];
      const settled = peer.settle?.();
      if (settled instanceof Promise) await settled;
      const from = process.hrtime.bigint();
      peer.run(operations);
      const ns = Number(process.hrtime.bigint() - from) / operations;
      if (round >= 0) costs.get(peer.name)?.push(ns);
    }
  }
  for (const { settle } of peers) await settle?.();
  return costs;
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
  const ours = /** @type {number[]} */ (costs.get(name));
  const theirs = /** @type {number[]} */ (costs.get(base));
  return median(ours.map((ns, round) => ns / theirs[round]));
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
    columns: ['', 'median ns', 'min ns', 'p90 ns', ...bases.map((base) => `x ${base}`)],
    rows: [...costs].map(([name, ns]) => [
      name,
      median(ns),
      Math.min(...ns),
      quantile(ns, 0.9),
      ...bases.map((base) => (name === base ? 1 : ratio(costs, name, base))),
    ]),
  };
}
