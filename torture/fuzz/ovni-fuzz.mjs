// The readers of ovni: streams, metadata with check and dump, and recovery with its rings.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { internal } from '../../scripts/package-layout.mjs';
import { checkTrace, decodeArguments, readStream, recoverTrace } from 'tracewright/ovni';
import { mutateJson } from './mutate-json.mjs';
import {
  halfDrained,
  mustStillHold,
  mutateRing,
  recordsOf,
  smallRing,
  withoutRecords,
} from './mutate-ring.mjs';

const { dumpEvents, dumpLine } = internal('ovni/read/dump');
const { HEADER_BYTES, payloadBytes } = internal('ovni/layout');

const writer = fileURLToPath(new URL('../../test/ovni/fixtures/killed-state.mjs', import.meta.url));
const marks = [
  [3, 7],
  [4, 1],
];

const FIRST_EVENTS = 2;

function firstEventsBytes(records) {
  let bytes = 0;
  for (let n = 0; n < FIRST_EVENTS; n++) bytes += HEADER_BYTES + payloadBytes(records[bytes]);
  return bytes;
}

/** What a killed process leaves: the stream as its ring holds it, the ring made small, the metadata. */
function leftovers(directory, version) {
  const traceDir = join(directory, `seed-${version}`);
  const order = { traceDir, version, cpu: 0, states: ['OHx', 'OHp', 'OHr'], marks };
  spawnSync(process.execPath, [writer, JSON.stringify(order)]);
  const place = join(traceDir, 'loom.node.1/proc.1');
  const ringPath = join(place, version === 3 ? 'thread.1/.stream.ring' : '.thread.1.ring');
  const whole = readFileSync(ringPath);
  const stream = readFileSync(join(place, version === 3 ? 'thread.1/stream.obs' : 'thread.1'));
  const metadata = readFileSync(
    join(place, version === 3 ? 'thread.1/stream.json' : 'metadata.json'),
  );
  rmSync(traceDir, { recursive: true });
  const half = halfDrained(smallRing(whole), stream, firstEventsBytes);
  return {
    ring: half.ring,
    events: Buffer.concat([withoutRecords(whole, stream), recordsOf(whole)]),
    stream: half.file,
    metadata,
  };
}

function jumbo() {
  const event = Buffer.alloc(16 + 8);
  event[0] = 0x13;
  event.write('OB.', 1);
  event.writeUInt32LE(8, 12);
  return event;
}

function streamReader(version) {
  return {
    name: `ovni ${version} stream`,
    seeds(directory) {
      const { events } = leftovers(directory, version);
      return [events, Buffer.concat([events, jumbo(), events.subarray(version === 3 ? 8 : 0)])];
    },
    headerBytes: version === 3 ? 8 : 0,
    open: (directory) => join(directory, 'stream'),
    read(path, bytes) {
      writeFileSync(path, bytes);
      let records = 0;
      for (const event of readStream(path, { version })) {
        decodeArguments(event);
        records++;
      }
      return records;
    },
  };
}

/** A trace directory in which one file is broken at a time. */
function traceReader(version, broken) {
  const place = version === 3 ? 'loom.node.1/proc.1/thread.1' : 'loom.node.1/proc.1';
  const files =
    version === 3
      ? { stream: 'stream.obs', metadata: 'stream.json', ring: '.stream.ring' }
      : { stream: 'thread.1', metadata: 'metadata.json', ring: '.thread.1.ring' };
  let good;
  return {
    name: `ovni ${version} ${broken === 'ring' ? 'recover, ring' : `check and dump, ${broken}`}`,
    seeds(directory) {
      good = leftovers(directory, version);
      return [broken === 'stream' ? good.events : good[broken]];
    },
    mutate: { metadata: mutateJson, ring: mutateRing }[broken],
    headerBytes: broken === 'ring' ? 24 : 0,
    open(directory) {
      const traceDir = join(directory, 'trace');
      const folder = join(traceDir, place);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, files.metadata), good.metadata);
      writeFileSync(join(folder, files.stream), good.events);
      return traceDir;
    },
    read(traceDir, bytes) {
      const folder = join(traceDir, place);
      const write = (kind, content) => writeFileSync(join(folder, files[kind]), content);
      if (broken === 'ring') {
        // Recovery deletes a thread without events.
        if (!existsSync(folder)) mkdirSync(folder);
        write('metadata', good.metadata);
        write('stream', good.stream);
        write('ring', bytes);
        const { faults, streams, emptied } = recoverTrace(traceDir);
        mustStillHold(join(folder, files.stream), good.stream);
        if (faults.length > 0) throw faults[0];
        return streams.length + emptied.length;
      }
      write(broken, bytes);
      let records = 0;
      for (const finding of checkTrace(traceDir)) if (finding.offset > 0) records++;
      for (const event of dumpEvents(traceDir)) records += dumpLine(event).length;
      return records;
    },
  };
}

export const ovniReaders = [
  streamReader(1),
  streamReader(3),
  traceReader(1, 'metadata'),
  traceReader(3, 'metadata'),
  traceReader(3, 'stream'),
  traceReader(1, 'ring'),
  traceReader(3, 'ring'),
];
