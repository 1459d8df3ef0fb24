// The readers of Heph: files, byte streams in pieces, check and dump.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dumpLine, dumpObject } from '../../dist/heph/dump.js';
import { PacketDecoder, checkTrace, f64, i64, openTrace, readPackets } from 'tracewright/heph';

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
  for (let i = 0; i < 6; i++) stream.finishTrace(stream.startTrace(), `event ${i}`, attributes);
  await trace.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return [bytes];
}

const file = (directory) => join(directory, 'trace.heph');

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
];
