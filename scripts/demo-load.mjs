// Asks a service for the same pages over and over, on connections that stay open.
//
//   node scripts/demo-load.mjs --origin URL --seconds N --connections N PATH...
//
// Prints one JSON object: what was answered, what failed, and in how many seconds.

import { Agent, get } from 'node:http';
import { parseArgs } from 'node:util';

const { values, positionals: paths } = parseArgs({
  options: {
    origin: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string' },
  },
  allowPositionals: true,
});
const connections = Number(values.connections);
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const { hostname, port } = new URL(values.origin);
const begun = performance.now();
const until = begun + 1000 * Number(values.seconds);
let answered = 0;
let failed = 0;

function ask(path) {
  return new Promise((resolve) => {
    const request = get({ hostname, port, path, agent }, (response) => {
      response.resume();
      response.on('end', () => {
        answered++;
        resolve();
      });
      response.on('error', resolve);
    });
    request.on('error', () => {
      failed++;
      resolve();
    });
  });
}

await Promise.all(
  Array.from({ length: connections }, async (_, first) => {
    for (let turn = first; performance.now() < until; turn++) await ask(paths[turn % paths.length]);
  }),
);
agent.destroy();
console.log(JSON.stringify({ answered, failed, seconds: (performance.now() - begun) / 1000 }));
