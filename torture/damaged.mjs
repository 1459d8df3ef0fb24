// Kills processes that record spans, damages copies of what they leave at random places, and recovers these
// with the command: never are there fewer spans than before, never does it report success where acknowledged
// spans are gone, and a repetition changes nothing.
//
//   node torture/damaged.mjs [--cuts N] [--seed N] [--directory PATH]

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readSpans } from 'tracewright/spans';
import { Random } from './random.mjs';

const { values: options } = parseArgs({
  options: {
    cuts: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    directory: { type: 'string', default: tmpdir() },
  },
});
const CHILD = fileURLToPath(new URL('open-spans-child.mjs', import.meta.url));
const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CUTS_OF_A_KILL = 10;
const BLOCK = 4096;
const random = new Random(Number(options.seed));

function fail(what) {
  throw new Error(`seed ${options.seed}: ${what}`);
}

/** What a killed process leaves, and how many of its spans have surely ended. */
async function killed(directory) {
  const open = random.pick([1, 40, 300]);
  const child = spawn(process.execPath, [CHILD, join(directory, 'trace.heph'), String(open)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  await sleep(random.integer(0, 60) + random.next());
  child.kill('SIGKILL');
  await closed;
  return Number(said.trim().split('\n').at(-1));
}

function ringsIn(directory) {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.ring'))
    .map((name) => join(directory, name));
}

function zero(path, from, to) {
  const bytes = readFileSync(path);
  bytes.fill(0, from, to);
  writeFileSync(path, bytes);
}

const DAMAGES = {
  'cut anywhere': (file, size) => truncateSync(file, random.integer(0, size)),
  'cut near the end': (file, size) =>
    truncateSync(file, size - random.integer(0, Math.min(size, 200))),
  'ends in zeros': (file, size) => {
    truncateSync(file, random.integer(0, size));
    truncateSync(file, size);
  },
  'a hole': (file, size) => {
    const at = random.integer(0, Math.floor(size / BLOCK)) * BLOCK;
    zero(file, at, at + BLOCK);
  },
  'a ring of zeros': (_, __, ring) => zero(ring),
  'a ring without content': (_, __, ring) => zero(ring, readFileSync(ring).readUInt32LE(12)),
};

/** Ended and open spans, up to the first byte that cannot be read. */
async function count(file) {
  const found = { ended: 0, open: 0 };
  try {
    for await (const { unfinished } of readSpans(file)) found[unfinished ? 'open' : 'ended'] += 1;
  } catch {
    // It is damaged here.
  }
  return found;
}

function recover(directory) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'recover', directory], {
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

function contentOf(directory) {
  return readdirSync(directory)
    .sort()
    .map((name) => `${name} ${readFileSync(join(directory, name), 'latin1')}`)
    .join('\n');
}

/** @returns whether spans were gone. */
async function damage(left, acknowledged, directory) {
  const [name] = [random.pick(Object.keys(DAMAGES))];
  cpSync(left, directory, { recursive: true });
  const file = join(directory, 'trace.heph');
  const [ring] = ringsIn(directory);
  DAMAGES[name](file, readFileSync(file).length, ring);

  const before = await count(file);
  const { status, said } = recover(directory);
  const after = await count(file);
  const what = `${name}: ${JSON.stringify({ before, after, acknowledged, status, said })}`;
  if (after.ended < before.ended || after.open < before.open) fail(`fewer spans, ${what}`);
  const isLost = after.ended < acknowledged;
  if (isLost && status === 0) fail(`success though spans are gone, ${what}`);
  const content = contentOf(directory);
  const again = recover(directory);
  if (contentOf(directory) !== content) fail(`a repetition changes something, ${what}`);
  if (isLost && again.status === 0) fail(`success when repeated, ${what}`);
  return isLost;
}

const cuts = Number(options.cuts);
let lost = 0;
for (let done = 0; done < cuts;) {
  const directory = mkdtempSync(join(options.directory, 'tracewright-damaged-'));
  try {
    const left = join(directory, 'left');
    mkdirSync(left);
    const acknowledged = await killed(left);
    for (let i = 0; i < CUTS_OF_A_KILL && done < cuts; i++, done++) {
      if (await damage(left, acknowledged, join(directory, String(i)))) lost += 1;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  console.log(`${done} damaged traces: ${lost} had lost spans, and recovery said so each time`);
}
