// ovni: one trace a process, so a round writes version 1 or 3.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  addCpu,
  checkTrace,
  emitJumbo,
  event,
  markPop,
  markPush,
  markType,
  procInit,
  readStream,
  readTraceDirectory,
  recoverTrace,
  threadInit,
} from 'tracewright/ovni';
import { runReader } from '../reader.mjs';

const large = new Uint8Array(40_000);
const numberOfLarge = new DataView(large.buffer);

/** Numbered `OB.` events, with states, open marks and events longer than the ring among them. */
function openThread(thread) {
  threadInit(thread + 1);
  if (thread === 0) addCpu(0, 0);
  markType(3, 'Phase', { stack: true });
  event('OHx')(-1, thread + 1, 0);
  const numbered = event('OB.(u32 n)');
  const pause = event('OHp');
  const cool = event('OHc');
  const warm = event('OHw');
  const resume = event('OHr');
  return (n) => {
    if (n % 5003 === 5002) {
      numberOfLarge.setUint32(0, n, true);
      emitJumbo('OB.', large);
    } else {
      numbered(n);
    }
    switch (n % 64) {
      case 8:
      case 16:
        markPush(3, 1 + (n % 7));
        break;
      case 24:
        markPop(3, 1 + ((n - 8) % 7));
        break;
      case 32:
        cool();
        break;
      case 33:
        pause();
        break;
      case 40:
        warm();
        break;
      case 41:
        resume();
        break;
      case 48:
        markPop(3, 1 + ((n - 40) % 7));
        break;
    }
  };
}

/** @param {1 | 3} version */
export function ovni(version) {
  const reader = version === 1 ? process.env.OVNIEMU_V1 : process.env.OVNIEMU;
  return {
    name: `ovni ${version}`,
    open(place, thread, options) {
      if (thread === 0)
        procInit(1, 'node.1', 1, { ...options, version, traceDir: join(place, 'ovni') });
      return openThread(thread);
    },
    recover: (place) =>
      existsSync(join(place, 'ovni')) ? recoverTrace(join(place, 'ovni')) : undefined,
    isThere(place) {
      const folder = join(place, 'ovni/loom.node.1/proc.1');
      return [1, 2, 3].some((tid) => existsSync(join(folder, `thread.${tid}`)));
    },
    /** Calls `visit` with the thread and the number of every event, in the order of the trace. */
    read(place, visit) {
      for (const { path, tid } of readTraceDirectory(join(place, 'ovni')).streams) {
        for (const { mcv, payload, data } of readStream(path, { version })) {
          if (mcv !== 'OB.') continue;
          const bytes = data ?? payload;
          visit(tid - 1, new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true));
        }
      }
    },
    check: (place) => checkTrace(join(place, 'ovni')),
    /** What the format's own reader has against it; undefined: nothing, or no reader is named. */
    accept: (place) => reader && runReader(reader, [join(place, 'ovni')]),
  };
}
