// The readers of Heph: files, byte streams in pieces, check and dump.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { internal } from '../../scripts/package-layout.mjs';
import {
  PacketDecoder,
  checkTrace,
  f64,
  i64,
  openTrace,
  readPackets,
  recoverTrace,
} from 'tracewright/heph';
import { halfDrained, mustStillHold, mutateRing, smallRing } from './mutate-ring.mjs';

const { dumpLine, dumpObject } = internal('heph/read/dump');
const { PacketCursor } = internal('heph/read/packet-cursor');
const { SIZE_OFFSET } = internal('heph/layout');

const fixture = (path) => fileURLToPath(new URL(`../../test/${path}`, import.meta.url));

async function seeds(directory) {
  const path = join(directory, 'seed.heph');
  const trace = openTrace(path, { ringBytes: 65_536 });
  const stream = trace.stream();
  const attributes = {
    n: 1,
    r: f64(0.5),
    s: i64(-3),
    text: 'text',
    list: ['a', 'b'],
    numbers: [1, 2],
  };
  for (let i = 0; i < 3; i++) stream.finishTrace(stream.startTrace(), `event ${i}`, attributes);
  await trace.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return [bytes];
}

const file = (directory) => join(directory, 'trace.heph');

const FIRST_EVENTS = 3;

function firstEventsBytes(records) {
  let bytes = 0;
  for (let n = 0; n < FIRST_EVENTS; n++) bytes += records.readUInt32BE(bytes + SIZE_OFFSET);
  return bytes;
}

/** Programs that kill themselves, and what they are given; each leaves a ring. */
const KILLED = {
  'heph recover, ring': (place) => [
    fixture('fixtures/killed.mjs'),
    { traceDir: join(place, 'ovni'), version: 3, hephFile: file(place), count: 8 },
  ],
  'heph recover, ring with open records': (place) => [
    fixture('core/fixtures/open-events.mjs'),
    { target: file(place), end: 'SIGKILL', places: 8 },
  ],
};

/** Reads a file and its rings, changes neither, and finds what is in the file in any case. */
function readLiving(path, ring, content, bytes) {
  const cursor = new PacketCursor(path, { living: true });
  let records = 0;
  let inFile = 0;
  try {
    while (cursor.next()) {
      const packet = cursor.packet();
      records++;
      if (cursor.inFile) inFile += packet.size;
    }
  } finally {
    cursor.close();
  }
  if (!readFileSync(path).equals(content)) throw new Error('the reading changed the file');
  if (!readFileSync(ring).equals(bytes)) throw new Error('the reading changed the ring');
  if (inFile !== content.length) throw new Error(`${inFile} of ${content.length} bytes were read`);
  if (cursor.faults.length > 0) throw cursor.faults[0];
  return records;
}

/**
 * A file and one of its rings, as a killed process leaves them.
 *
 * @param {(path: string, ring: string, content: Buffer, bytes: Buffer) => number} [read]
 */
function recoverReader(kind, read) {
  let content;
  let name;
  return {
    name: read === undefined ? kind : kind.replace('recover', 'living'),
    seeds(directory) {
      const place = join(directory, 'seed');
      const [program, order] = KILLED[kind](place);
      mkdirSync(place);
      spawnSync(process.execPath, [program, JSON.stringify(order)]);
      name = readdirSync(place).find((each) => each.endsWith('.ring'));
      const half = halfDrained(
        smallRing(readFileSync(join(place, name))),
        readFileSync(file(place)),
        firstEventsBytes,
      );
      content = half.file;
      rmSync(place, { recursive: true });
      return [half.ring];
    },
    mutate: mutateRing,
    headerBytes: 24,
    open(directory) {
      const place = join(directory, 'trace');
      mkdirSync(place);
      return place;
    },
    read(place, bytes) {
      writeFileSync(file(place), content);
      writeFileSync(join(place, name), bytes);
      if (read !== undefined) return read(file(place), join(place, name), content, bytes);
      const { faults, streams } = recoverTrace(file(place));
      mustStillHold(file(place), content);
      if (faults.length > 0) throw faults[0];
      return streams.length;
    },
  };
}

export const hephReaders = [
  {
    name: 'heph file, check and dump',
    seeds,
    headerBytes: 8,
    open: file,
    read(path, bytes) {
      writeFileSync(path, bytes);
      let records = 0;
      for (const finding of checkTrace(path)) if (finding.offset > 8) records++;
      for (const packet of readPackets(path)) {
        dumpLine(packet);
        JSON.stringify(dumpObject(packet));
        records++;
      }
      return records;
    },
  },
  {
    name: 'heph connection, in pieces',
    seeds,
    headerBytes: 8,
    open: file,
    read(_, bytes) {
      const decoder = new PacketDecoder();
      let records = 0;
      for (let at = 0; at < bytes.length; at += 37) {
        records += decoder.push(bytes.subarray(at, at + 37)).length;
      }
      decoder.end();
      return records;
    },
  },
  ...Object.keys(KILLED).map((kind) => recoverReader(kind)),
  ...Object.keys(KILLED).map((kind) => recoverReader(kind, readLiving)),
];
