// What Node's TracingChannel and AsyncLocalStorage cost by themselves, on several Nodes.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { otherNode } from '../scripts/other-node.mjs';
import { main } from './benchmark.mjs';

const PROGRAM = fileURLToPath(new URL('tracing-channel-program.mjs', import.meta.url));
const NODES = '20,22,24,26';
const FLAGS = ['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'];

/** @param {string} node */
function run(node) {
  const { status, stdout, stderr } = spawnSync(node, [...FLAGS, PROGRAM], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${node}: exit code ${status}\n${stderr}`);
  return /** @type {{ name: string, ns: number, bytes: number }[]} */ (JSON.parse(stdout));
}

/** @param {{ nodes?: string }} options */
function measure({ nodes = NODES }) {
  const own = process.versions.node.split('.')[0];
  const rows = nodes.split(',').flatMap((version) => {
    const node = version === own ? process.execPath : join(otherNode(version), 'node');
    return run(node).map(({ name, ns, bytes }) => [version, name, ns, Math.round(bytes)]);
  });
  return {
    tables: [
      {
        title: 'A call, and what it leaves to the garbage collector',
        columns: ['Node', '', 'ns', 'bytes'],
        rows,
      },
    ],
    notes: ['Medians of 15 rounds of 20,000 calls. The message of a call is a part of its bytes.'],
  };
}

await main(import.meta.url, {
  title: 'TracingChannel and AsyncLocalStorage of Node',
  help: `  --nodes LIST  major versions, default ${NODES}; npm brings those that are not running`,
  options: { nodes: { type: 'string' } },
  measure,
});
