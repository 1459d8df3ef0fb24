// Kills processes that trace, recovers, and looks whether anything is missing; or feeds the readers
// with broken files.
//
//   npm run torture -- --rounds 1000

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFaultyCore, buildMemory } from './addons.mjs';
import { fuzz } from './fuzz/fuzz.mjs';
import { readOptions } from './options.mjs';
import { endings, runRound } from './round.mjs';
import { mountRefusal } from './tmpfs.mjs';
import { runWorkers } from './workers.mjs';

const USAGE = `usage: npm run torture -- [options]

Rounds: a child writes numbered events in all formats from its main thread and two workers, at full
speed, and acknowledges each in memory that outlives it. It comes to its end, is recovered, and every
acknowledged event must be in its trace once and in order; our check must accept the trace.

  --rounds N     how many (default 100)
  --seed S       the same rounds again (default: the time)
  --ending KIND  kill (default), segv, abort, tmpfs-full (needs root)
  --fault        with a core that publishes the tail before the write: the rounds must find it
  --directory D  where the traces go (default: the system's temporary directory)

  --fuzz N       instead: N broken inputs for every reader
  --reader TEXT  only readers whose name contains TEXT
  --jobs N       how many at a time (default: the processors)

  --workers N    instead: N workers that trace in every format, half of them terminated

With OVNIEMU=path (version 3) and OVNIEMU_V1=path (version 1) ovni's own emulator must accept it too.
`;

const values = readOptions(
  USAGE,
  {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    ending: { type: 'string', default: 'kill' },
    fault: { type: 'boolean', default: false },
    fuzz: { type: 'string' },
    reader: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    workers: { type: 'string' },
    directory: { type: 'string', default: tmpdir() },
  },
  ({ ending }) =>
    endings.includes(ending)
      ? undefined
      : `--ending must be one of ${endings.join(', ')}, got ${ending}`,
);

const seed = Math.floor(Number(values.seed));
const rounds = Math.floor(Number(values.rounds));

function thousands(value) {
  return Math.round(value).toLocaleString('en');
}

const directory = mkdtempSync(join(values.directory, 'tracewright-torture-'));
let failed = 0;
if (values.workers !== undefined) {
  try {
    const well = await runWorkers(Number(values.workers), directory);
    process.stdout.write(well ? 'nothing grew\n' : 'something GREW\n');
    process.exitCode = well ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit();
}
if (values.fuzz !== undefined) {
  try {
    process.stdout.write(`seed ${seed}\n`);
    const count = Number(values.fuzz);
    const jobs = Math.max(1, Number(values.jobs));
    const well = await fuzz({ seed, count, directory, only: values.reader, jobs });
    process.exitCode = well ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit();
}
try {
  const refused = values.ending === 'tmpfs-full' ? mountRefusal(directory) : undefined;
  if (refused !== undefined) {
    process.stdout.write(`skipped: this machine lets nobody mount a tmpfs here (${refused})\n`);
    process.exit(0);
  }
  buildMemory();
  const env = values.fault ? buildFaultyCore() : {};
  process.stdout.write(
    `seed ${seed}, ending ${values.ending}${values.fault ? ', faulty core' : ''}\n`,
  );
  const sums = { rounds: 0, events: 0, during: 0, writing: 0, dropped: 0, interrupted: 0 };
  const from = performance.now();
  for (let round = 0; round < rounds; round++) {
    const outcome = await runRound({ round, seed, ending: values.ending, directory, env });
    sums.rounds++;
    sums.events += outcome.events;
    sums.during += outcome.during;
    sums.writing += outcome.writing;
    sums.dropped += outcome.dropped;
    sums.interrupted += outcome.interruptions > 0 ? 1 : 0;
    if (outcome.faults.length > 0) {
      failed++;
      process.stdout.write(`round ${round}: ${JSON.stringify(outcome.order)}\n`);
      for (const fault of outcome.faults) process.stdout.write(`  ${fault}\n`);
      if (values.fault) break;
    }
    if (sums.rounds % 25 === 0) {
      const seconds = (performance.now() - from) / 1000;
      process.stdout.write(
        `${sums.rounds} rounds, ${failed} failed, ${thousands(sums.events)} events, ${thousands(seconds)} s\n`,
      );
    }
  }
  process.stdout.write(`
rounds                                 ${thousands(sums.rounds)}
  whose recovery was killed as well    ${thousands(sums.interrupted)}
events acknowledged                    ${thousands(sums.events)}
events a second while all were writing ${thousands((sums.during / Math.max(sums.writing, 1)) * 1000)}
events counted as dropped              ${thousands(sums.dropped)}
rounds in which something was wrong    ${thousands(failed)}
`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
if (values.fault) {
  process.stdout.write(failed > 0 ? 'the fault was found\n' : 'the fault was NOT found\n');
  process.exitCode = failed > 0 ? 0 : 1;
} else {
  process.exitCode = failed === 0 ? 0 : 1;
}
