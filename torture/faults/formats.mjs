// Every format as the torture of faults writes it: events of one size with a number, from one thread or two.

import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openRank, readCalls, recoverTrace as recoverDumpi } from 'tracewright/dumpi';
import { openTrace, readPackets, recoverTrace as recoverHeph } from 'tracewright/heph';
import {
  openReferences,
  readReferences,
  recoverTrace as recoverLaplace,
} from 'tracewright/laplace';
import * as ovni from 'tracewright/ovni';

/** Files below a directory whose names match, with their paths. */
function filesIn(directory, pattern) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !basename(name).startsWith('.'))
    .sort()
    .map((name) => join(directory, name));
}

/** Heph, into a file or a socket: `target` is the address of a collector. */
const heph = {
  name: 'heph',
  open(place, thread, options, target = join(place, 'trace.heph')) {
    const trace = openTrace(target, options);
    const stream = trace.stream(thread + 1);
    const span = stream.span('event', { n: 'u64' });
    return { emit: (n) => span.finish(stream.startTrace(), n), stats: () => trace.stats() };
  },
  recover(place) {
    for (const path of filesIn(place, /\.heph$/)) recoverHeph(path);
  },
  *read(place) {
    for (const path of filesIn(place, /\.heph$/)) {
      for (const packet of readPackets(path)) {
        if (packet.kind === 'event') yield Number(packet.attributes[0].value);
      }
    }
  },
};

const ovniOf = (version) => ({
  name: `ovni ${version}`,
  open(place, thread, options) {
    if (thread === 0) {
      ovni.procInit(1, 'node.1', 1, { ...options, version, traceDir: join(place, 'ovni') });
    }
    ovni.threadInit(thread + 1);
    if (thread === 0) ovni.addCpu(0, 0);
    ovni.event('OHx')(-1, thread + 1, 0);
    // It is none of those that are counted.
    ovni.flush();
    return { emit: ovni.event('OB.(u32 n)'), metadata: () => ovni.attrFlush() };
  },
  recover(place) {
    if (existsSync(join(place, 'ovni'))) ovni.recoverTrace(join(place, 'ovni'));
  },
  *read(place) {
    for (const path of filesIn(place, version === 1 ? /thread\.\d+$/ : /\.obs$/)) {
      for (const { mcv, payload } of ovni.readStream(path, { version })) {
        // The hook's own have no payload.
        if (mcv !== 'OB.' || payload.length !== 4) continue;
        yield new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
      }
    }
  },
});

const dumpi = {
  name: 'dumpi',
  open(place, thread, options) {
    const rank = openRank({
      ...options,
      directory: place,
      fileRoot: 'run',
      rank: thread,
      size: 2,
      startTime: new Date(2026, 0, 1),
      config: { timestamps: 'wall' },
    });
    return {
      emit(n) {
        rank.log('MPI_Send', { count: n, datatype: 5, dest: 0, tag: 7, comm: 2 }, rank.enter());
      },
    };
  },
  recover(place) {
    for (const path of filesIn(place, /\.bin$/)) recoverDumpi(path);
  },
  *read(place) {
    for (const path of filesIn(place, /\.bin$/)) {
      for (const { fields } of readCalls(path)) yield fields.count;
    }
  },
};

const laplace = {
  name: 'laplace',
  open(place, thread, options) {
    const trace = openReferences(join(place, `references-${thread}.bin`), {
      ...options,
      form: 'binary',
    });
    return { emit: (n) => trace.store(n, 8, 1, n) };
  },
  recover(place) {
    for (const path of filesIn(place, /\.bin$/)) recoverLaplace(path, { kind: 'binary' });
  },
  *read(place) {
    for (const path of filesIn(place, /\.bin$/)) {
      for (const { address } of readReferences(path, { form: 'binary' })) yield address;
    }
  },
};

export const formats = [heph, ovniOf(1), ovniOf(3), dumpi, laplace];
export const formatNamed = (name) => formats.find((format) => format.name === name);
