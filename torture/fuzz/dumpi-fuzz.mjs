// The readers of DUMPI: a rank's file with check, dump and dumpi2ascii, a killed rank's ring and side
// file with recovery, and metafiles.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { core } from '../../dist/core/addon.js';
import { dump } from '../../dist/dumpi/dump.js';
import { checkTrace, dumpi2ascii, openRank, readMetafile, recoverTrace } from 'tracewright/dumpi';
import { mutateJson } from './mutate-json.mjs';

const killed = fileURLToPath(new URL('../../test/fixtures/dumpi-killed.mjs', import.meta.url));
const LONGEST_RECORD_BYTES = 1 << 20;

function wholeTrace(directory) {
  const rank = openRank({
    directory,
    rank: 0,
    size: 1,
    startTime: new Date(2026, 0, 1),
    config: { timestamps: 'wall' },
  });
  rank.log('MPI_Init', { argv: ['a', 'b'] });
  rank.keyval('seed', '42');
  rank.annotate('begin');
  rank.functionEnter('work');
  for (let n = 0; n < 8; n++) {
    rank.log('MPI_Send', { count: n, datatype: 5, dest: 0, tag: 7, comm: 2 }, rank.enter());
    rank.log('MPI_Iprobe', { source: 0, tag: 7, comm: 2, flag: n % 2, status: null });
  }
  rank.functionExit('work');
  rank.log('MPI_Finalize', {});
  rank.close();
  const metafile = readdirSync(directory).find((name) => name.endsWith('.meta'));
  return {
    trace: readFileSync(rank.path),
    metafile: readFileSync(join(directory, metafile)),
  };
}

function seedsOf(directory, pick) {
  const place = join(directory, 'seed');
  const whole = wholeTrace(place);
  rmSync(place, { recursive: true });
  return [pick(whole)];
}

/** What a killed rank leaves, by name, its rings made small. */
function leftovers(directory) {
  const place = join(directory, 'seed');
  const order = { directory: place, count: 20, end: 'kill' };
  spawnSync(process.execPath, [killed, JSON.stringify(order)]);
  const files = new Map();
  for (const name of readdirSync(place)) {
    let bytes = readFileSync(join(place, name));
    if (name.endsWith('.ring')) {
      const capacity = 4096;
      bytes.writeBigUInt64LE(BigInt(capacity), core.control.capacity);
      bytes = bytes.subarray(0, core.control.bytes + capacity);
    }
    files.set(name, bytes);
  }
  rmSync(place, { recursive: true });
  return files;
}

function recoverReader(what, isBroken, mutate) {
  let good;
  let broken;
  return {
    name: `dumpi recover, ${what}`,
    seeds(directory) {
      good = leftovers(directory);
      broken = [...good.keys()].find(isBroken);
      return [good.get(broken)];
    },
    mutate,
    headerBytes: what === 'ring' ? 24 : 0,
    open: (directory) => join(directory, 'run'),
    read(place, bytes) {
      rmSync(place, { recursive: true, force: true });
      mkdirSync(place);
      for (const [name, content] of good) {
        writeFileSync(join(place, name), name === broken ? bytes : content);
      }
      const result = recoverTrace(place);
      if (result.faults.length > 0) throw result.faults[0];
      return result.streams.length + result.emptied.length;
    },
  };
}

export const dumpiReaders = [
  {
    name: 'dumpi file, check and dump',
    seeds: (directory) => seedsOf(directory, ({ trace }) => trace),
    headerBytes: 8,
    open: (directory) => join(directory, 'rank.bin'),
    read(path, bytes) {
      writeFileSync(path, bytes);
      const options = { maxRecordBytes: LONGEST_RECORD_BYTES };
      let records = 0;
      for (const { offset } of checkTrace(path)) if (offset > 8) records++;
      for (const line of dump(path, true, options)) records += JSON.parse(line) === null ? 0 : 1;
      for (const line of dump(path, false, options)) records += line.length;
      return records;
    },
  },
  {
    name: 'dumpi file, dumpi2ascii',
    seeds: (directory) => seedsOf(directory, ({ trace }) => trace),
    headerBytes: 8,
    open: (directory) => join(directory, 'rank.bin'),
    read(path, bytes) {
      writeFileSync(path, bytes);
      let length = 0;
      for (const text of dumpi2ascii(path)) length += text.length;
      return length;
    },
  },
  {
    name: 'dumpi metafile',
    seeds: (directory) => seedsOf(directory, ({ metafile }) => metafile),
    headerBytes: 0,
    open: (directory) => join(directory, 'run.meta'),
    read(path, bytes) {
      writeFileSync(path, bytes);
      return Object.keys(readMetafile(path)).length;
    },
  },
  recoverReader('ring', (name) => /\.bin\.ring$/.test(name)),
  recoverReader('names', (name) => /\.names\.ring$/.test(name)),
  recoverReader('side file', (name) => name.endsWith('.json'), mutateJson),
];
