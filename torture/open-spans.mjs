// Kills processes that record spans, at random moments, and recovers their traces: the spans that were
// open, and only they, must come back as unfinished, and each of the others once.
//
//   node torture/open-spans.mjs [--rounds N] [--seed N] [--directory PATH]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkTrace, recoverTrace } from 'tracewright/heph';
import { readSpans } from 'tracewright/spans';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:spans -- [--rounds N] [--seed N] [--directory PATH]

  --rounds N        processes that are killed: 1,000 unless set
  --seed N          when they are; default: chosen by the time, and printed with a fault
  --directory PATH  where they trace; default: the directory for temporary files
`,
  {
    rounds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    directory: { type: 'string', default: tmpdir() },
  },
);
const CHILD = fileURLToPath(new URL('open-spans-child.mjs', import.meta.url));
const random = new Random(Number(options.seed));

function fail(what) {
  throw new Error(`seed ${options.seed}: ${what}`);
}

/** Numbers from `first` on without a gap, whatever their order. */
function checkRun(what, numbers, first) {
  numbers.sort((a, b) => a - b);
  numbers.forEach((number, i) => {
    if (number !== first + i) fail(`${what}: ${number} in place of ${first + i}`);
  });
}

async function round(directory) {
  const target = join(directory, 'trace.heph');
  const open = random.pick([1, 7, 40, 300]);
  const child = spawn(process.execPath, [CHILD, target, String(open)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  await sleep(random.integer(0, 60) + random.next());
  child.kill('SIGKILL');
  const [, signal] = await closed;
  if (signal !== 'SIGKILL') fail(`the process ended by itself (${signal})`);
  const acknowledged = Number(said.trim().split('\n').at(-1));

  const { faults } = recoverTrace(target);
  if (faults.length > 0) fail(faults[0]);
  const ended = [];
  const unfinished = [];
  const partial = [];
  for await (const span of readSpans(target)) {
    const { n, late, odd } = span.attributes;
    (span.unfinished ? unfinished : ended).push(Number(n));
    const isOdd = n % 2 === 1;
    // The kill may have come before the one or the other was set.
    if (late !== (isOdd ? `${n}` : undefined) || odd !== (isOdd || undefined)) {
      partial.push(Number(n));
      if (odd !== undefined || (late !== undefined && (!isOdd || late !== `${n}`))) {
        fail(`span ${n} has the attributes ${late} and ${odd}`);
      }
    }
    if (span.end < span.start) fail(`span ${span.attributes.n} ends before it starts`);
  }
  if (partial.some((n) => n !== Math.max(...unfinished))) fail(`${partial} lack what was set`);
  checkRun('ended', ended, 0);
  checkRun('open', unfinished, ended.length);
  if (ended.length < acknowledged) fail(`${acknowledged} acknowledged, ${ended.length} found`);
  if (unfinished.length < open || unfinished.length > open + 1) {
    fail(`${open} were open, ${unfinished.length} came back`);
  }
  for (const { rule, message } of checkTrace(target)) {
    if (!rule.startsWith('converter-')) fail(`${rule}: ${message}`);
  }
  return { ended: ended.length, unfinished: unfinished.length };
}

const rounds = Number(options.rounds);
const sum = { ended: 0, unfinished: 0 };
for (let i = 1; i <= rounds; i++) {
  const directory = mkdtempSync(join(options.directory, 'tracewright-open-spans-'));
  try {
    const { ended, unfinished } = await round(directory);
    sum.ended += ended;
    sum.unfinished += unfinished;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (i % 50 === 0 || i === rounds) {
    console.log(
      `${i} kills: ${sum.ended} spans had ended, ${sum.unfinished} were open; none is wrong`,
    );
  }
}
