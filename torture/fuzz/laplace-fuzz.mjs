// The readers of Laplace: references in binary and as text, kernel events, and recovery of each.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { internal } from '../../scripts/package-layout.mjs';
import {
  checkKernelEvents,
  checkReferences,
  openKernelEvents,
  openReferences,
  readKernelEvents,
  readReferences,
  recoverTrace,
  referencesToText,
  textToReferences,
} from 'tracewright/laplace';
import { halfDrained, mustStillHold, mutateRing, smallRing } from './mutate-ring.mjs';

const { dumpLine, dumpObject } = internal('laplace/read/dump');

const killed = fileURLToPath(new URL('../../test/laplace/fixtures/killed.mjs', import.meta.url));

function written(path, trace, write) {
  write(trace);
  trace.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return [bytes];
}

const file = (directory) => join(directory, 'trace');

function dumped(record) {
  return dumpLine(record).length + JSON.stringify(dumpObject(record)).length;
}

function referenceReader(form) {
  return {
    name: `laplace references, ${form}`,
    seeds(directory) {
      const path = join(directory, 'seed');
      return written(path, openReferences(path, { form }), (trace) => {
        for (let n = 0; n < 8; n++) trace.store(n * 4_000_000_000, 8, n, 0x9a8b_7c6d + n);
      });
    },
    headerBytes: 0,
    open: file,
    read(path, bytes) {
      writeFileSync(path, bytes);
      let records = 0;
      for (const { offset } of checkReferences(path, { form })) if (offset > 0) records++;
      for (const reference of readReferences(path, { form })) {
        records += dumped({ kind: 'reference', ...reference });
      }
      return records;
    },
  };
}

function conversion(form) {
  const convert = form === 'text' ? textToReferences : referencesToText;
  return {
    ...referenceReader(form),
    name: `laplace conversion from ${form}`,
    async read(path, bytes) {
      writeFileSync(path, bytes);
      const { records } = await convert(path, `${path}.converted`, { exists: 'replace' });
      return records;
    },
  };
}

/** What a killed process leaves of a trace: the file, and its ring made small. */
function recoverReader(form, kind) {
  let content;
  return {
    name: `laplace recover, ${kind} ring`,
    seeds(directory) {
      const references = join(directory, 'references');
      const kernel = join(directory, 'kernel');
      for (const path of [references, kernel]) rmSync(path, { force: true });
      const order = { references, kernel, form, count: 8 };
      spawnSync(process.execPath, [killed, JSON.stringify(order)]);
      const path = kind === 'kernel' ? kernel : references;
      const name = kind === 'kernel' ? '.kernel.ring' : '.references.ring';
      const whole = smallRing(readFileSync(join(directory, name)));
      const half = halfDrained(whole, readFileSync(path));
      content = half.file;
      for (const each of [references, kernel]) rmSync(each);
      for (const each of ['.kernel.ring', '.references.ring']) rmSync(join(directory, each));
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
      const path = join(place, 'trace');
      const ring = join(place, '.trace.ring');
      writeFileSync(path, content);
      writeFileSync(ring, bytes);
      const { faults, streams, emptied } = recoverTrace(path);
      mustStillHold(path, content);
      if (faults.length > 0) throw faults[0];
      return streams.length + emptied.length;
    },
  };
}

export const laplaceReaders = [
  referenceReader('binary'),
  referenceReader('text'),
  conversion('binary'),
  conversion('text'),
  {
    name: 'laplace kernel events',
    seeds(directory) {
      const path = join(directory, 'seed');
      return written(path, openKernelEvents(path), (trace) => {
        for (let n = 0; n < 2; n++) {
          trace.schedule(n, n);
          trace.fork(n, n, n + 1);
          trace.execute(n, n, 77, 8, 1, '/bin/true');
          trace.mapFile(n, 1, 2 ** 40, 4096, 77, 8, 1, 0, '/lib/x y.so');
          trace.copyOnWrite(n, 1, 2 ** 40);
          trace.closeFile(n, 1, 77, 8, 1);
        }
      });
    },
    headerBytes: 0,
    open: file,
    read(path, bytes) {
      writeFileSync(path, bytes);
      let records = 0;
      for (const { offset } of checkKernelEvents(path)) if (offset > 0) records++;
      for (const event of readKernelEvents(path)) records += dumped(event);
      return records;
    },
  },
  recoverReader('binary', 'binary'),
  recoverReader('text', 'text'),
  recoverReader('text', 'kernel'),
];
