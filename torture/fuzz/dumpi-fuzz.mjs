// The readers of DUMPI: a rank's file with check, dump and dumpi2ascii, a killed rank's ring and side
// file with recovery, and metafiles.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { internal } from '../../scripts/package-layout.mjs';
import { checkTrace, dumpi2ascii, openRank, readMetafile, recoverTrace } from 'tracewright/dumpi';
import { mutateJson } from './mutate-json.mjs';
import { halfDrained, mustStillHold, mutateRing, smallRing } from './mutate-ring.mjs';

const { dump } = internal('dumpi/read/dump');
const { fileOfRing } = internal('dumpi/file-names');

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
  for (let n = 0; n < 3; n++) {
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
  const order = { directory: place, count: 5, end: 'kill' };
  spawnSync(process.execPath, [killed, JSON.stringify(order)]);
  const files = new Map();
  for (const name of readdirSync(place)) {
    const bytes = readFileSync(join(place, name));
    files.set(name, name.endsWith('.ring') ? smallRing(bytes) : bytes);
  }
  rmSync(place, { recursive: true });
  return files;
}

/** @param {(ring: string) => string} [fedBy] the file that a ring feeds, where a ring is broken. */
function recoverReader(what, isBroken, mutate, fedBy) {
  let good;
  let broken;
  let trace;
  return {
    name: `dumpi recover, ${what}`,
    seeds(directory) {
      good = leftovers(directory);
      broken = [...good.keys()].find(isBroken);
      trace = [...good.keys()].find((name) => name.endsWith('.bin'));
      if (fedBy === undefined) return [good.get(broken)];
      const target = fedBy(broken);
      const half = halfDrained(good.get(broken), good.get(target));
      good.set(target, half.file);
      return [half.ring];
    },
    mutate,
    headerBytes: what === 'ring' ? 24 : 0,
    open(directory) {
      const place = join(directory, 'run');
      mkdirSync(place);
      return place;
    },
    read(place, bytes) {
      for (const [name, content] of good) {
        writeFileSync(join(place, name), name === broken ? bytes : content);
      }
      const result = recoverTrace(place);
      mustStillHold(join(place, trace), good.get(trace));
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
  recoverReader('ring', (name) => /\.bin\.ring$/.test(name), mutateRing, fileOfRing),
  recoverReader(
    'names',
    (name) => /\.names\.ring$/.test(name),
    mutateRing,
    (ring) => ring.slice(0, -'.ring'.length),
  ),
  recoverReader('side file', (name) => name.endsWith('.json'), mutateJson),
];
