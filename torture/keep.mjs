// Kills processes that keep slow and failed requests, at random moments, also in the middle of a copy: each that had
// ended must be in the trace, whole and once, and each that was open, as undecided.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkTrace, recoverTrace } from 'tracewright/heph';
import { readSpans } from 'tracewright/spans';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:keep -- [--rounds N] [--seed N] [--directory PATH]

  --rounds N        processes that are killed: 1,000 unless set
  --seed N          when they are; default: chosen by the time, and printed with a fault
  --directory PATH  where they trace; default: the directory for temporary files

Without a kill: npm run torture:keep-requests, torture:keep-long and torture:keep-outage.
`,
  {
    rounds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    directory: { type: 'string', default: tmpdir() },
  },
);
const CHILD = fileURLToPath(new URL('keep-child.mjs', import.meta.url));
const random = new Random(Number(options.seed));

function fail(what) {
  throw new Error(`seed ${options.seed}: ${what}`);
}

/** What the program's own log says of each request. */
function requestsIn(log) {
  const requests = new Map();
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [what, id, steps] = line.split(' ');
    if (what === 'begin')
      requests.set(id, { steps: Number(steps), isEnding: false, hasEnded: false });
    if (what === 'ending') requests.get(id).isEnding = true;
    if (what === 'end') requests.get(id).hasEnded = true;
  }
  return requests;
}

async function tracesIn(file) {
  const ids = new Set();
  const traces = new Map();
  for await (const span of readSpans(file)) {
    if (ids.has(span.spanId)) fail(`span ${span.spanId} twice`);
    ids.add(span.spanId);
    const trace = traces.get(span.traceId) ?? { root: undefined, steps: 0 };
    if (span.parentSpanId === undefined) trace.root = span;
    else if (!span.unfinished) trace.steps++;
    traces.set(span.traceId, trace);
  }
  return { traces, spans: ids.size };
}

async function round(directory) {
  const file = join(directory, 'trace.heph');
  const log = join(directory, 'log');
  const child = spawn(process.execPath, [CHILD, file, log], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  await sleep(random.integer(1, 800));
  child.kill('SIGKILL');
  await exit;
  const requests = requestsIn(log);
  const { traces, spans } = await tracesIn(file);
  const counts = { kept: 0, undecided: 0 };
  for (const [id, { steps, isEnding, hasEnded }] of requests) {
    const trace = traces.get(id);
    // Killed between the end of its span and the line that says so: it may have been released.
    if (isEnding && !hasEnded && steps === 0) continue;
    if (!hasEnded) {
      counts.undecided++;
      if (trace?.root === undefined) fail(`request ${id} was open, and is not there`);
    } else if (steps > 0) {
      counts.kept++;
      if (trace?.root === undefined || trace.root.unfinished) fail(`request ${id} has no end`);
      if (trace.steps !== steps) fail(`request ${id} has ${trace.steps} of ${steps} steps`);
    }
  }
  recoverTrace(file);
  const after = await tracesIn(file);
  if (after.spans !== spans) fail(`${spans} spans, and ${after.spans} once recovered`);
  for (const { rule, message } of checkTrace(file)) {
    // One that was killed at once has recorded nothing.
    if (!rule.startsWith('converter-') && rule !== 'no-events') fail(`${rule}: ${message}`);
  }
  return counts;
}

const total = { kept: 0, undecided: 0 };
for (let number = 0; number < Number(options.rounds); number++) {
  const directory = mkdtempSync(join(options.directory, 'tracewright-keep-'));
  try {
    const { kept, undecided } = await round(directory);
    total.kept += kept;
    total.undecided += undecided;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
console.log(
  `${options.rounds} killed processes: ${total.kept} kept requests whole, ${total.undecided} undecided ones there`,
);
