// Reads traces of every format again and again while threads write them, the drain thread empties their
// rings, and they go from piece to piece; then traces of killed processes while they are recovered. Every
// record must be read once, whole and in order, in every reading.
//
//   node torture/living.mjs [--format NAME] [--records N] [--kills N] [--seed N] [--directory PATH]

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as heph from './living/heph.mjs';
import { ownFileFormats } from './living/own-file-formats.mjs';
import * as ownFile from './living/own-file.mjs';
import { readOptions } from './options.mjs';
import { Random } from './random.mjs';

const options = readOptions(
  `usage: npm run torture:living -- [--format NAME] [--records N] [--kills N] [--seed N] [--directory PATH]

  --format NAME     only formats whose name begins so; default: all
  --records N       records of each format: 100,000,000 unless set
  --kills N         killed processes of each format: 200 unless set
  --seed N          when they are killed; default: chosen by the time
  --directory PATH  where the traces go; default: the directory for temporary files
`,
  {
    format: { type: 'string', default: '' },
    records: { type: 'string', default: '100000000' },
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    directory: { type: 'string', default: tmpdir() },
  },
);

/** Of each format: a long reading, and one of a killed process. */
const readers = {
  heph: { read: heph.readRotating, readKilled: heph.readKilled },
};
for (const name of Object.keys(ownFileFormats)) {
  readers[name] = {
    read: (run, records) => ownFile.readSeries(run, name, records),
    readKilled: (run) => ownFile.readKilled(run, name),
  };
}
const chosen = Object.keys(readers).filter((name) => name.startsWith(options.format));
if (chosen.length === 0) {
  console.error(`--format ${options.format}: the formats are ${Object.keys(readers).join(', ')}`);
  process.exit(2);
}

const run = {
  directory: mkdtempSync(join(options.directory, 'tracewright-living-')),
  random: new Random(Number(options.seed)),
  /** Processes, which end with this one. */
  writers: [],
};
try {
  for (const name of chosen) {
    const { read, readKilled } = readers[name];
    await read(run, Number(options.records));
    const kills = Number(options.kills);
    let readings = 0;
    for (let i = 0; i < kills; i++) readings += await readKilled(run);
    console.log(
      `${name}: ${kills} kills: ${readings} readings during and after a recovery, all the same`,
    );
  }
} catch (error) {
  console.error(`seed ${options.seed}:`, error);
  process.exitCode = 1;
} finally {
  for (const writer of run.writers) if (writer.exitCode === null) writer.kill('SIGKILL');
  await Promise.all(
    run.writers.map((writer) => writer.exitCode ?? writer.signalCode ?? once(writer, 'exit')),
  );
  rmSync(run.directory, { recursive: true, force: true });
}
