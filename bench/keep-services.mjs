// Which kept traces are whole across two and three services: each decides by itself, and tells others what is certain
// when it calls them.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSpans } from 'tracewright/spans';
import { main } from './benchmark.mjs';
import { startService } from './http-turns.mjs';

const PROGRAM = fileURLToPath(new URL('keep-chain-program.mjs', import.meta.url));
const KEEP = 'slower:500ms,errors,ratio:0.05,limit:off';
const IN_FLIGHT = 10;
const SHARE = 'of the share';
/** What happens: in the first service, and in the last. */
const CASES = (/** @type {number} */ last) => [
  { name: 'the first one is slow before it calls', query: 'before=1' },
  { name: 'the first one is slow after its call', query: 'after=1' },
  { name: 'the last one is slow', query: `before=${last}` },
  { name: 'the first one fails', query: 'fails=1' },
  { name: 'the last one fails, and so do its callers', query: `fails=${last}` },
  {
    name: 'the last one fails, and its caller copes',
    query: `fails=${last}&handled`,
  },
  { name: SHARE, query: 'usual' },
];

/**
 * @param {number} port
 * @param {string} query
 * @param {Agent} agent
 * @returns {Promise<string>} the trace's id.
 */
function ask(port, query, agent) {
  const id = randomBytes(16).toString('hex');
  const headers = {
    traceparent: `00-${id}-${randomBytes(8).toString('hex')}-01`,
  };
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: `/work?${query}`, agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(id));
    }).once('error', reject);
  });
}

/** The traces that a service has kept, by their ids, and why. */
async function keptIn(/** @type {string} */ directory) {
  const reasons = new Map();
  for await (const { traceId, kept, kind } of readSpans(join(directory, 'heph'))) {
    if (kind === 'server' && kept !== undefined) reasons.set(traceId, kept.reason);
  }
  return reasons;
}

/**
 * @param {number} services
 * @param {number} count of each case.
 */
async function measureChain(services, count) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const directories = Array.from({ length: services }, (_, i) => join(directory, String(i)));
  const children = [];
  try {
    let next;
    for (let number = services; number > 0; number--) {
      const { child, port } = await startService(
        {
          name: String(number),
          flags: ['--import', import.meta.resolve('tracewright/register'), PROGRAM],
          env: {
            TRACEWRIGHT_CONTEXT: 'on',
            TRACEWRIGHT_KEEP: KEEP,
            TRACEWRIGHT_STALL_MS: 'off',
            BENCH_NUMBER: String(number),
            ...(next === undefined ? {} : { BENCH_NEXT: String(next) }),
          },
        },
        directories[number - 1],
      );
      children.push(child);
      next = port;
    }
    const agent = new Agent({ keepAlive: true });
    /** @type {Map<string, string[]>} */
    const asked = new Map();
    for (const { name, query } of CASES(services)) {
      /** @type {string[]} */
      const ids = [];
      asked.set(name, ids);
      // Only a share of the usual ones is kept.
      const all = query === 'usual' ? 20 * count : count;
      const client = async () => {
        for (let left = all / IN_FLIGHT; left > 0; left--) ids.push(await ask(next, query, agent));
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, client));
    }
    agent.destroy();
    for (const child of children) {
      const ended = once(child, 'exit');
      child.send('end');
      await ended;
    }
    const kept = [];
    for (const each of directories) kept.push(await keptIn(each));
    return [...asked].map(([name, ids]) => {
      // On a busy machine a usual request may be slow.
      const isCase = (/** @type {string | undefined} */ reason) =>
        name === SHARE ? reason === 'ratio' : reason !== undefined;
      const some = ids.filter((id) => kept.some((each) => isCase(each.get(id))));
      const whole = some.filter((id) => kept.every((each) => each.has(id)));
      return [services, name, some.length, (100 * whole.length) / Math.max(1, some.length)];
    });
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const count = quick ? 20 : 200;
  const rows = [...(await measureChain(2, count)), ...(await measureChain(3, count))];
  return {
    tables: [
      {
        title: `Services that call one another, ${KEEP}, ${count} requests of each case`,
        columns: ['services', 'case', 'kept traces', 'whole, %'],
        rows,
      },
    ],
    notes: [
      'A trace counts as kept if one of the services has kept it, and is whole if all of them have.',
    ],
  };
}

await main(import.meta.url, {
  title: 'Kept traces that are whole across services',
  measure,
});
