// Has the stacks of threads taken as often as it goes, under load, and kills the processes: none may crash, and every
// record of a stall must be whole.
//
//   node torture/stalls.mjs [--seconds N] [--node PATH] [--seed N]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkTrace, recoverTrace } from 'tracewright/heph';
import { readSpans } from 'tracewright/spans';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:stalls -- [--seconds N] [--node PATH] [--seed N]

  --seconds N  how long: 600 unless set
  --node PATH  the Node that is tortured; default: the one that runs this
  --seed N     when its processes are killed; default: chosen by the time, and printed with a fault
`,
  {
    seconds: { type: 'string', default: '600' },
    node: { type: 'string', default: process.execPath },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
);
const CHILD = fileURLToPath(new URL('stalls-child.mjs', import.meta.url));
const HOOK = fileURLToPath(new URL('../dist/node/register.js', import.meta.url));
/** A line of a stack. */
const LINE = /^(?:\(native code\)|at (?:.+ \(.*:\d+:\d+\)|.*:\d+:\d+))$/;
const random = new Random(Number(options.seed));
const sum = { processes: 0, stalls: 0, stacks: 0 };

function fail(what) {
  throw new Error(`seed ${options.seed}: ${what}`);
}

/** Looks at the stalls of a trace. */
async function check(path) {
  for (const { rule, message } of checkTrace(path)) {
    if (!rule.startsWith('converter-')) fail(`${rule}: ${message}`);
  }
  for await (const { name, start, end, attributes } of readSpans(path)) {
    if (name !== 'event loop blocked') continue;
    sum.stalls++;
    if (end < start) fail('a stall ends before it begins');
    const { 'code.stacktrace': most, 'eventloop.stacks': all = [most ?? ''] } = attributes;
    const counts = attributes['eventloop.stack_counts'] ?? [most === undefined ? 0 : 1];
    if (!Array.isArray(all) || all.length !== counts.length) fail('stacks lack their counts');
    for (const stack of all) {
      if (stack === '') continue;
      const torn = stack.split('\n').find((line) => !LINE.test(line));
      if (torn !== undefined) fail(`a stack has the line ${JSON.stringify(torn)}`);
    }
    sum.stacks += counts.reduce((total, count) => total + Number(count), 0);
  }
}

async function round(directory, until) {
  const child = spawn(options.node, ['--expose-gc', '--require', HOOK, CHILD], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TRACEWRIGHT_DIR: join(directory, 'run'),
      TRACEWRIGHT_STALL_MS: '1',
      TRACEWRIGHT_QUIET: '1',
      TRACEWRIGHT_CONTEXT: 'on',
    },
  });
  let said = '';
  child.stderr.on('data', (data) => (said += data));
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  child.stdout.resume();
  const left = Math.max(0, until - Date.now());
  await Promise.race([
    closed,
    pause(Math.min(left, 1000 * random.integer(2, 12) + random.integer(0, 999))),
  ]);
  child.kill('SIGKILL');
  const [code, signal] = await closed;
  if (signal !== 'SIGKILL') fail(`a process ended with ${code ?? signal}: ${said.slice(-4000)}`);
  const folder = join(directory, 'run', 'heph');
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.heph')) continue;
    const { faults } = recoverTrace(join(folder, name));
    if (faults.length > 0) fail(faults[0]);
    await check(join(folder, name));
  }
  sum.processes++;
}

const begun = Date.now();
const until = begun + 1000 * Number(options.seconds);
let lived = 0;
do {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-stalls-'));
  try {
    const from = Date.now();
    await round(directory, until);
    lived += Date.now() - from;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const rate = Math.round((1000 * sum.stacks) / lived);
  console.log(
    `${Math.round((Date.now() - begun) / 1000)} s: ${sum.processes} kills, ${sum.stalls} stalls, ` +
      `${sum.stacks} stacks (${rate} a second); none is torn`,
  );
} while (Date.now() < until);
