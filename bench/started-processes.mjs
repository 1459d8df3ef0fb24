import { spawnSync } from 'node:child_process';

/**
 * What a process took from its start to its end. Its script prints the rest, in JSON and last.
 *
 * @typedef {{ ms: number, cpuMs: number, mb: number }} Start
 */

/** Statements, with `fs` in scope, that print memory and CPU time at the end, after every other listener. */
export const PRINT_USAGE = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  fs.writeSync(1, JSON.stringify({ rss: process.memoryUsage.rss(), cpu: user + system }));
});`;

/**
 * @param {string} node
 * @param {readonly string[]} args
 * @param {object} options
 * @param {string} options.cwd
 * @param {Readonly<Record<string, string | undefined>>} options.env all that it has, but for PATH.
 * @param {boolean} [options.isSilent] whether a line on its standard error is a failure.
 * @returns {Start}
 */
export function startProcess(node, args, { cwd, env, isSilent = false }) {
  const from = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(node, args, {
    cwd,
    encoding: 'utf8',
    // Nothing else of this machine: Node 20 takes 40 ms for the certificates of NODE_EXTRA_CA_CERTS.
    env: { PATH: process.env.PATH, TRACEWRIGHT_QUIET: '1', ...env },
  });
  const ms = Number(process.hrtime.bigint() - from) / 1e6;
  if (status !== 0 || (isSilent && stderr !== '')) {
    throw new Error(`${node} ${args.join(' ')}: exit code ${status}\n${stderr}`);
  }
  const { rss, cpu } = JSON.parse(stdout.slice(stdout.lastIndexOf('{')));
  return { ms, cpuMs: cpu / 1e3, mb: rss / 1e6 };
}

/**
 * Starts variants in turn; in every round another one begins.
 *
 * @template Variant
 * @param {readonly Variant[]} variants
 * @param {{ rounds: number, warmUpRounds: number }} counts
 * @param {(variant: Variant, name: string) => Start} start its name is different for each start.
 * @returns {Start[][]} those of each variant.
 */
export function startInTurns(variants, { rounds, warmUpRounds }, start) {
  /** @type {Start[][]} */
  const figures = variants.map(() => []);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (let turn = 0; turn < variants.length; turn++) {
      const i = (turn + round + warmUpRounds) % variants.length;
      const figure = start(variants[i], `${round}-${i}`);
      if (round >= 0) figures[i].push(figure);
    }
  }
  return figures;
}

/**
 * The table of what starts took; `program` says of what.
 *
 * @param {string} program
 * @param {number} rounds
 * @param {string[]} columns
 * @param {(string | number)[][]} rows
 */
export const startTable = (program, rounds, columns, rows) => ({
  title: `Start to end of a ${program}, ${rounds} alternating rounds; figures that are added are medians over the rounds`,
  columns,
  rows,
});

export const NODES = '20,22,24,26';
/** The option that both commands have. */
export const NODES_OPTION = {
  help: `  --nodes LIST  major versions, default ${NODES}; npm brings those that are not running`,
  options: { nodes: { type: 'string' } },
};
