import { existsSync } from 'node:fs';
import { pathTaken } from '../../core/files/path-taken.js';
import { hasCode } from '../../core/files/system-error.js';
import { recordsNothing } from '../../core/off.js';
import { ringSettings } from '../../core/options/ring-options.js';
import { mayHoldRings, recoverPredecessor } from '../../core/recovery/predecessor.js';
import type { Ring } from '../../core/ring/ring.js';
import { LACKS_END } from '../../core/unfinished-target.js';
import { FUNCTION_ENTER_LABEL, FUNCTION_EXIT_LABEL } from '../calls.js';
import { CALLS_FORMAT, rankRings } from '../file-names.js';
import {
  BIASES_BYTES,
  BODY_OFFSET,
  CPU_BIAS_OFFSET,
  MAGIC,
  WALL_BIAS_OFFSET,
  ADDRESS_BYTES,
  TURN_ADDRESSES,
} from '../layout.js';
import type { Clock } from '../layout.js';
import type { RankPlan } from './rank-options.js';
import { writeHead } from './record-head.js';
import type { RecordHead } from './record-head.js';

/**
 * Offsets in the stamp area of a rank's ring: `IntervalArea` of native/ring/interval_stamp.h. Times are
 * nanoseconds since a clock's bias.
 */

/** When the call began that is recorded next; negative: when it ends. */
export const WALL_START = 0;
export const CPU_START = 1;
/** When the turn of the 16-bit seconds began in which the last record lies; 0: the first turn. */
export const WALL_TURN = 2;
export const CPU_TURN = 3;
/** The CPU clock when `readStamp` was called. */
export const CPU_NOW = 4;
/** Not 0 after a commit that wrote a preface: 1, or 2 when the record found no room after it. */
export const PREFACE = 5;
export const PREFACE_WITHOUT_ROOM = 2;
/** By how many seconds such a commit moved the record's start. */
export const MOVED_START = 6;

/**
 * The records that precede the first one of a new turn of a clock's 16-bit seconds: the entry and the
 * exit of a function. The commit adds their times and counters.
 */
function turnPreface(head: RecordHead, clock: Clock): Buffer {
  const size = head.bytes + ADDRESS_BYTES;
  const preface = Buffer.alloc(2 * size);
  const view = new DataView(preface.buffer, preface.byteOffset, preface.length);
  [FUNCTION_ENTER_LABEL, FUNCTION_EXIT_LABEL].forEach((label, i) => {
    writeHead(head, view, i * size, label, 0);
    view.setBigUint64(i * size + head.bytes, TURN_ADDRESSES[clock]);
  });
  return preface;
}

/** Makes the first bytes of a rank's file. */
function preambleOf({ cpuBias, wallBias }: RankPlan): Buffer {
  const preamble = Buffer.alloc(BODY_OFFSET + BIASES_BYTES);
  preamble.writeBigUInt64BE(MAGIC, 0);
  preamble.writeInt32BE(cpuBias, BODY_OFFSET + CPU_BIAS_OFFSET);
  preamble.writeInt32BE(wallBias, BODY_OFFSET + WALL_BIAS_OFFSET);
  return preamble;
}

/** Recovers what a dead process has left at the path of a new file. */
function recoverBefore(file: string, ringDir: string | undefined): void {
  const isNextToFile = existsSync(rankRings(file, undefined, '').calls);
  if (!isNextToFile && (ringDir === undefined || !mayHoldRings(ringDir))) return;
  const { recoverTrace } = require('../read/recover.js') as typeof import('../read/recover.js');
  recoverPredecessor((options) => recoverTrace(file, options), ringDir);
}

/** Creates the file of a rank, and opens its ring at `ringPath`. */
export function openCallsRing(ring: Ring, file: string, ringPath: string, plan: RankPlan): void {
  const { head, ringOptions } = plan;
  if (!recordsNothing()) recoverBefore(file, ringOptions.ringDir);
  try {
    ring.open(
      {
        path: ringPath,
        ...ringSettings(ringOptions),
        format: CALLS_FORMAT,
        target: file,
        preamble: preambleOf(plan),
        stampOffset: 0,
        stamp: head.cpu !== -1 || head.wall !== -1 ? 'interval' : 'none',
        interval: {
          wall: { offset: head.wall, bias: plan.wallBias, preface: turnPreface(head, 'wall') },
          cpu: { offset: head.cpu, bias: plan.cpuBias, preface: turnPreface(head, 'cpu') },
          threadCpu: plan.threadCpu,
          countersOffset: head.counters,
        },
        words: true,
        fileMode: ringOptions.fileMode,
      },
      undefined,
      ringOptions.onFault,
    );
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    const advice = 'choose another directory, root or start time';
    throw pathTaken('directory', file, { advice, cause: error });
  }
  ring.unfinished[0] = LACKS_END;
}
