// Has the stacks of threads taken as often as it goes, and samples 1,000 times a second what they run and allocate, under
// load, and kills the processes: none may crash, and every record of a stall or a profile must be whole.
//
//   node torture/stalls.mjs [--seconds N] [--node PATH] [--sanitize address|thread] [--seed N]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkTrace, readPackets, recoverTrace } from 'tracewright/heph';
import { readSpans } from 'tracewright/spans';
import { buildSanitized } from './addons.mjs';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:stalls -- [--seconds N] [--node PATH] [--sanitize KIND] [--seed N]

  --seconds N  how long: 600 unless set
  --node PATH  the Node that is tortured; default: the one that runs this
  --sanitize KIND  address or thread: with an addon that is compiled so; default: the addon as it is
  --seed N     when its processes are killed; default: chosen by the time, and printed with a fault
`,
  {
    seconds: { type: 'string', default: '600' },
    node: { type: 'string', default: process.execPath },
    sanitize: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
);
const CHILD = fileURLToPath(new URL('stalls-child.mjs', import.meta.url));
const HOOK = fileURLToPath(new URL('../dist/node/register.js', import.meta.url));
/** A line of a stack. */
const LINE = /^(?:\(native code\)|at (?:.+ \(.*:\d+:\d+\)|.*:\d+:\d+))$/;
const random = new Random(Number(options.seed));
const sanitized = options.sanitize === undefined ? {} : buildSanitized(options.sanitize);
const sum = { processes: 0, stalls: 0, stacks: 0, samples: 0, allocations: 0 };

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

const ID = /^(?:[\da-f]{16})?$/;

/** Looks at the samples of a trace, as docs/formats/records.md says how they are. */
function checkProfiles(path) {
  for (const { kind, description, attributes } of readPackets(path)) {
    if (kind !== 'event' || description !== 'tracewright.profile') continue;
    const { frames, nodes, samples, sizes, spans, lines } = Object.fromEntries(
      attributes.map(({ name, value }) => [name, value]),
    );
    const lists = (text = '') =>
      text === '' ? [] : text.split(',').map((each) => each.split(':'));
    const names = frames === '' ? [] : frames.split('\n');
    const known = lists(nodes);
    known.forEach(([frame, parent], number) => {
      if (!(Number(frame) < names.length)) fail(`node ${number} has no frame`);
      if (parent !== '' && !(Number(parent) < number))
        fail(`node ${number} has no parent before it`);
    });
    const ids = (spans ?? '').split(',');
    if (!ids.every((id) => ID.test(id))) fail('a span of samples has no id');
    for (const [us, node, span = ''] of lists(samples)) {
      if (!(Number(us) >= 0) || !(Number(node) < known.length)) fail('a sample is torn');
      if (span !== '' && !(Number(span) < ids.length)) fail('a sample has an unknown span');
      sum.samples++;
    }
    for (const [node, ...figures] of [...lists(sizes), ...lists(lines)]) {
      const isWhole = figures.length === 2 && figures.every((each) => Number(each) > 0);
      if (!isWhole || !(Number(node) < known.length))
        fail('what was allocated, or a line, is torn');
    }
    if (sizes !== undefined) sum.allocations++;
  }
}

async function round(directory, until) {
  const child = spawn(options.node, ['--expose-gc', '--require', HOOK, CHILD], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...sanitized,
      TRACEWRIGHT_DIR: join(directory, 'run'),
      TRACEWRIGHT_STALL_MS: '1',
      TRACEWRIGHT_PROFILE: 'cpu:1000,heap',
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
  if (said.includes('WARNING: ThreadSanitizer')) fail(said);
  const folder = join(directory, 'run', 'heph');
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.heph')) continue;
    const { faults } = recoverTrace(join(folder, name));
    if (faults.length > 0) fail(faults[0]);
    await check(join(folder, name));
    checkProfiles(join(folder, name));
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
      `${sum.stacks} stacks (${rate} a second), ` +
      `${sum.samples} samples, ${sum.allocations} heaps; none is torn`,
  );
} while (Date.now() < until);
