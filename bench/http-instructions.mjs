// The instructions of a request: those of a plain HTTP service, and those that the hook adds.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { controlCallgrind, NOT_COUNTED, readInstructions, underCallgrind } from './callgrind.mjs';
import { ask, CONNECTIONS, signal, startLoad, startService } from './http-turns.mjs';
import { OFF, ON, VARIANTS } from './http.mjs';

const PLAIN = 0;
const COUNTED = VARIANTS.filter(({ name }) => /plain$|register|nothing/.test(name));
/** Until V8 has optimised what it optimises. */
const WARM_UP_REQUESTS = 100_000;
/** Callgrind translates the code again when it begins to count. */
const SETTLE_MS = 3000;
const COUNT_MS = 15_000;
const FUNCTIONS = 16;
/** Such as `JS:*answered file:///…/dist/node/requests.js:616:11`. */
const SCRIPT = /^JS:[~^+*]?'?(.*) (?:file:\/\/)?(\/.*:\d+):\d+$/;
/** Of a function that was compiled from a text: no file. */
const FROM_TEXT = /^JS:[~^+*]?'?(\S+) :\d+:\d+$/;

/**
 * @param {import('./http-turns.mjs').Variant} variant
 * @param {string} directory
 * @param {boolean} quick
 */
async function count(variant, directory, quick) {
  mkdirSync(directory);
  const flags = ['--perf-basic-prof', ...variant.flags];
  const under = underCallgrind(directory);
  const { child, port } = await startService(
    { ...variant, flags, under },
    join(directory, 'trace'),
  );
  const load = await startLoad(port, '/', 0);
  try {
    const warmUp = quick ? WARM_UP_REQUESTS / 10 : WARM_UP_REQUESTS;
    signal(load, 'SIGCONT');
    while ((await ask(child)).requests < warmUp) await sleep(500);
    controlCallgrind(child.pid, '--instr=on');
    await sleep(SETTLE_MS);
    controlCallgrind(child.pid, '--zero');
    const from = await ask(child);
    // Questions cost instructions too.
    await sleep(quick ? COUNT_MS / 10 : COUNT_MS);
    const to = await ask(child);
    controlCallgrind(child.pid, '--dump');
    signal(load, 'SIGKILL');
    const ended = once(child, 'exit');
    child.send('end');
    await ended;
    const requests = to.requests - from.requests;
    const { all, collector, functions } = readInstructions(directory, child.pid);
    return {
      name: variant.name,
      requests,
      collector: collector / requests,
      others: (all - collector) / requests,
      ofHook: hookFunctions(functions, requests),
    };
  } finally {
    signal([child, ...load], 'SIGKILL');
  }
}

/**
 * The hook's own functions, each with all that V8 compiled of it.
 *
 * @param {{ code: string, binary: string, instructions: number }[]} functions
 * @param {number} requests
 */
function hookFunctions(functions, requests) {
  /** @type {Map<string, number>} */
  const found = new Map();
  const add = (/** @type {string} */ key, /** @type {number} */ more) =>
    found.set(key, (found.get(key) ?? 0) + more / requests);
  for (const { code, binary, instructions } of functions) {
    const [, fromText] = FROM_TEXT.exec(code) ?? [];
    if (fromText !== undefined) add(`${fromText}, compiled for its records`, instructions);
    const [, name, place] = SCRIPT.exec(code) ?? [];
    const file = (place ?? binary).replace(`${root}/`, '');
    if (!/^(?:dist|build|prebuilds)\//.test(file)) continue;
    const key = place === undefined ? `native code, ${file}` : `${name || '(anonymous)'}, ${file}`;
    add(key, instructions);
  }
  return found;
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (NOT_COUNTED !== undefined) return { tables: [], notes: [`Skipped: ${NOT_COUNTED}.`] };
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  const receiver = createServer((request, response) =>
    request.resume().on('end', () => response.end()),
  );
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const shipped = {
    ...COUNTED[OFF],
    name: `${COUNTED[OFF].name}, TRACEWRIGHT_SHIP`,
    env: {
      ...COUNTED[OFF].env,
      TRACEWRIGHT_SHIP: `http://127.0.0.1:${receiver.address().port}`,
      XDG_STATE_HOME: directory,
    },
  };
  const rows = [];
  try {
    for (const [i, variant] of [...COUNTED, shipped].entries()) {
      rows.push(await count(variant, join(directory, String(i)), quick));
    }
  } finally {
    receiver.closeAllConnections();
    receiver.close();
    rmSync(directory, { recursive: true, force: true });
  }
  const [off, on] = [rows[OFF].ofHook, rows[ON].ofHook];
  const functions = [...new Set([...off.keys(), ...on.keys()])]
    .map((name) => /** @type {const} */ ([name, off.get(name) ?? 0, on.get(name) ?? 0]))
    .sort((a, b) => b[1] + b[2] - a[1] - a[2]);
  const most = functions.slice(0, FUNCTIONS);
  const rest = functions.slice(FUNCTIONS);
  const sum = (each, column) => each.reduce((all, row) => all + row[column], 0);
  return {
    tables: [
      {
        title: `A node:http service, ${CONNECTIONS} connections, instructions of the main thread a request`,
        columns: ['', 'without the collector', 'more than plain', 'garbage collector', 'requests'],
        rows: rows.map(({ name, others, collector, requests }) => [
          name,
          Math.round(others),
          Math.round(others - rows[PLAIN].others),
          Math.round(collector),
          requests,
        ]),
      },
      {
        title: 'Functions of the hook, instructions a request',
        columns: ['function', 'context off', 'context on'],
        rows: [
          ...most,
          ['all others', sum(rest, 1), sum(rest, 2)],
          ['sum', sum(functions, 1), sum(functions, 2)],
        ].map(([name, ...figures]) => [name, ...figures.map(Math.round)]),
      },
    ],
    notes: [
      `Counted by callgrind after ${quick ? WARM_UP_REQUESTS / 10 : WARM_UP_REQUESTS} requests. Each row is one process. A function has what V8 inlines into it, and not what it calls in Node and V8. A line is one of the package's files.`,
    ],
  };
}

await main(import.meta.url, { title: 'The instructions of a request', measure });
