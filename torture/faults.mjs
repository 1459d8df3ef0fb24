// Brings every fault to processes that record, and compares: acknowledged = in the trace + counted as lost.
//
//   npm run torture:faults -- --events 20000

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatNamed } from './faults/formats.mjs';
import { RecordingProcess } from './faults/process.mjs';
import { scenarios } from './faults/scenarios.mjs';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';
import { mountRefusal } from './tmpfs.mjs';

const USAGE = `usage: npm run torture:faults -- [options]

Each row is a process that records numbered events while a fault comes and goes. Every event that it has
acknowledged must be in its trace once, or in what the process says at its end that it has lost. What
rings hold is recovered first.

  --events N     about how many between two changes (default 20000)
  --seed S       the same numbers of events again (default: the time)
  --only TEXT    rows that contain TEXT: a fault, a format, a policy
  --directory D  where the traces go (default: the system's temporary directory)
  --list         the rows, without running them
`;

const values = readOptions(
  USAGE,
  {
    events: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
    directory: { type: 'string', default: tmpdir() },
    list: { type: 'boolean', default: false },
  },
  ({ events }) => (Number(events) >= 1 ? undefined : `--events must be above 0, got ${events}`),
);
const events = Math.floor(Number(values.events));
const seed = Math.floor(Number(values.seed));

const rows = scenarios
  .flatMap((scenario) =>
    scenario.formats.flatMap((format) =>
      scenario.policies.map((policy) => ({ ...scenario, format, policy })),
    ),
  )
  .filter((row) => `${row.fault} ${row.format} ${row.policy}`.includes(values.only));
const widths = [28, 9, 6];
const title = (row) =>
  [row.fault, row.format, row.policy].map((text, i) => text.padEnd(widths[i])).join(' ');
if (values.list) {
  for (const row of rows) process.stdout.write(`${title(row).trimEnd()}\n`);
  process.exit();
}

const directory = mkdtempSync(join(values.directory, 'tracewright-faults-'));
const random = new Random(seed);

/** A library that is loaded before the process, or why there is none. */
function compileShim(name) {
  const path = join(directory, `${name}.so`);
  const source = fileURLToPath(new URL(`../native/test/preload/${name}.cc`, import.meta.url));
  const args = ['-std=c++17', '-shared', '-fPIC', '-o', path, source, '-ldl'];
  return spawnSync('c++', args).status === 0 ? path : undefined;
}

async function run(row, place, shim) {
  const start = async (at, options, more = {}, how = {}) => {
    const order = {
      format: row.format,
      place: at,
      options: { ...options, onFull: row.policy },
      ...more,
    };
    const recording = new RecordingProcess(order, how);
    await recording.answer();
    return recording;
  };
  const count = random.integer(Math.ceil(events / 2), events);
  const {
    recording,
    lost,
    deleted: deletedOf,
    unmount,
  } = await row.run({
    start,
    place,
    events: count,
    options: row.options,
    shim,
  });
  try {
    const format = formatNamed(row.format);
    format.recover(place);
    const found = new Set();
    let twice = 0;
    for (const n of format.read(place)) {
      if (found.has(n)) twice++;
      found.add(n);
    }
    const deleted = typeof deletedOf === 'function' ? deletedOf([...found]) : deletedOf;
    if (lost.bytes > 0) throw new Error(`it has counted ${lost.bytes} bytes instead of events`);
    const difference = recording.acknowledged - found.size - lost.events - (deleted ?? 0);
    return { ...recording, found: found.size, lost: lost.events, deleted, difference, twice };
  } finally {
    unmount?.();
  }
}

const refused = mountRefusal(directory);
if (refused !== undefined) process.stdout.write(`no small file systems here: ${refused}\n`);
process.stdout.write(`seed ${seed}, ${rows.length} rows\n\n`);
const numbers = ['acknowledged', 'in trace', 'lost', 'rotated', 'difference'];
process.stdout.write(
  `${['fault', 'format', 'full'].map((text, i) => text.padEnd(widths[i])).join(' ')} ${numbers.map((text) => text.padStart(12)).join('')}\n`,
);
let failed = 0;
let skipped = 0;
try {
  for (const [index, row] of rows.entries()) {
    const shim = row.shim === undefined ? undefined : compileShim(row.shim);
    if ((row.mounts && refused !== undefined) || (row.shim !== undefined && shim === undefined)) {
      skipped++;
      process.stdout.write(`${title(row)} skipped\n`);
      continue;
    }
    const place = join(directory, `row-${index}`, 'trace');
    mkdirSync(place, { recursive: true });
    let said;
    try {
      const { acknowledged, found, lost, deleted, difference, twice } = await run(row, place, shim);
      const figures = [acknowledged, found, lost, deleted ?? 0, difference];
      const isOff = row.mayArrive ? difference > 0 : difference !== 0;
      const isWrong = twice > 0 || (row.isUnknown ? difference < 0 : isOff);
      if (isWrong) failed++;
      said = figures.map((n) => n.toLocaleString('en').padStart(12)).join('');
      if (twice > 0) said += `, ${twice} twice`;
      if (isWrong) said += '  WRONG';
      else if (row.isUnknown) said += '  nothing acknowledges them';
    } catch (error) {
      failed++;
      said = `  FAILED: ${error.message}`;
    }
    process.stdout.write(`${title(row)} ${said}\n`);
    if (!process.env.TORTURE_KEEP)
      rmSync(join(directory, `row-${index}`), { recursive: true, force: true });
  }
} finally {
  if (!process.env.TORTURE_KEEP) rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(
  `\n${rows.length - failed - skipped} rows right, ${failed} wrong, ${skipped} skipped\n`,
);
process.exitCode = failed === 0 ? 0 : 1;
