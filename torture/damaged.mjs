// Kills processes that record, damages copies of what they leave at random places, and recovers these with the
// command: never are there fewer records than before, never does it report success where acknowledged records
// are gone, and a repetition changes nothing.
//
//   node torture/damaged.mjs [--format NAME] [--cuts N] [--seed N] [--directory PATH]
//
// NAME: heph, whose records are spans (the default), or another format of torture/formats.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readSpans } from 'tracewright/spans';
import { internal } from '../scripts/package-layout.mjs';
import { formats } from './formats/all.mjs';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:damaged -- [--format NAME] [--cuts N] [--seed N] [--directory PATH]

  --format NAME     heph, whose records are spans, or another format of torture/formats: heph unless set
  --cuts N          damaged copies: 200 unless set
  --seed N          where they are damaged; default: chosen by the time, and printed with a fault
  --directory PATH  where the traces go; default: the directory for temporary files
`,
  {
    format: { type: 'string', default: 'heph' },
    cuts: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    directory: { type: 'string', default: tmpdir() },
  },
);
const SPANS_CHILD = fileURLToPath(new URL('open-spans-child.mjs', import.meta.url));
const NUMBERED_CHILD = fileURLToPath(new URL('numbered-child.mjs', import.meta.url));
const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CUTS_OF_A_KILL = 10;
const BLOCK = 4096;
const random = new Random(Number(options.seed));

function fail(what) {
  throw new Error(`seed ${options.seed}: ${what}`);
}

/** Where the formats have the file and the ring of their first thread. */
const OVNI_PROCESS = 'ovni/loom.node.1/proc.1';
const DUMPI_FILE = 'dumpi-2026.01.01.00.00.00-0000';
const PLACES = {
  heph: { file: 'trace.heph' },
  'ovni 1': {
    format: 'ovni',
    file: `${OVNI_PROCESS}/thread.1`,
    ring: `${OVNI_PROCESS}/.thread.1.ring`,
  },
  'ovni 3': {
    format: 'ovni',
    file: `${OVNI_PROCESS}/thread.1/stream.obs`,
    ring: `${OVNI_PROCESS}/thread.1/.stream.ring`,
  },
  dumpi: {
    format: 'dumpi',
    file: `dumpi/${DUMPI_FILE}.bin`,
    ring: `dumpi/.${DUMPI_FILE}.bin.ring`,
  },
};
for (const kind of ['binary', 'text', 'kernel']) {
  const name = `laplace-${kind}`;
  PLACES[name] = {
    format: 'laplace',
    file: `laplace-0.${kind}`,
    ring: `.laplace-0.${kind}.ring`,
    form: name,
  };
}
const place = PLACES[options.format];
if (place === undefined) {
  console.error(`--format ${options.format}: the formats are ${Object.keys(PLACES).join(', ')}`);
  process.exit(2);
}
const isHeph = options.format === 'heph';
const format = formats.flat().find(({ name }) => name === options.format);

/** What a killed process leaves, and how many of its records must be in the trace. */
async function killed(directory) {
  const args = isHeph
    ? [SPANS_CHILD, join(directory, place.file), String(random.pick([1, 40, 300]))]
    : [NUMBERED_CHILD, directory, options.format];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  // An empty file next to a ring of zeros does not show that there ever were records.
  while (!(statSync(join(directory, place.file), { throwIfNoEntry: false })?.size > BLOCK)) {
    await sleep(1);
  }
  await sleep(random.integer(0, 60) + random.next());
  child.kill('SIGKILL');
  await closed;
  return Number(said.trim().split('\n').at(-1));
}

function ringIn(directory) {
  if (place.ring !== undefined) return join(directory, place.ring);
  return join(
    directory,
    readdirSync(directory).find((name) => name.endsWith('.ring')),
  );
}

function zero(path, from, to) {
  const bytes = readFileSync(path);
  bytes.fill(0, from, Math.min(to ?? bytes.length, bytes.length));
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

/** Records that have ended, and spans that are open, up to the first byte that cannot be read. */
async function count(directory) {
  const found = { ended: 0, open: 0 };
  const path = join(directory, place.file);
  let view;
  try {
    if (isHeph) {
      for await (const { unfinished } of readSpans(path)) found[unfinished ? 'open' : 'ended'] += 1;
      return found;
    }
    const { traceViewer } = internal(`${place.format}/read/view-trace`);
    view = traceViewer()(place.format === 'ovni' ? join(directory, 'ovni') : path);
    format.read(directory, () => (found.ended += 1));
  } catch {
    // It is damaged here.
  } finally {
    view?.close();
  }
  return found;
}

function recover(directory) {
  const args =
    place.form === undefined ? [directory] : [join(directory, place.file), '--format', place.form];
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'recover', ...args], {
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

function contentOf(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath, path = parentPath }) => join(path, name))
    .sort()
    .map((path) => `${path} ${readFileSync(path, 'latin1')}`)
    .join('\n');
}

/** @returns whether records were gone. */
async function damage(left, acknowledged, directory) {
  const name = random.pick(Object.keys(DAMAGES));
  cpSync(left, directory, { recursive: true });
  const file = join(directory, place.file);
  DAMAGES[name](file, readFileSync(file).length, ringIn(directory));

  const before = await count(directory);
  const { status, said } = recover(directory);
  const after = await count(directory);
  const what = `${name}: ${JSON.stringify({ before, after, acknowledged, status, said })}`;
  if (after.ended < before.ended || after.open < before.open) fail(`fewer records, ${what}`);
  const isLost = after.ended < acknowledged;
  if (isLost && status === 0) fail(`success though records are gone, ${what}`);
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
  console.log(`${done} damaged traces: ${lost} had lost records, and recovery said so each time`);
}
