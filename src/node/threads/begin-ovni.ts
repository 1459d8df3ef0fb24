import { clockNow } from '../../core/clock.js';
import { RUN_FOLDER } from '../../ovni/file-names.js';
import type { ProcessPlan } from '../run/process-plan.js';
import { enterFormat } from '../run/run.js';
import type { Run } from '../run/run.js';
import { sizesOf } from '../run/trace-sizes.js';
import type { Settings } from '../settings.js';
import type { PieceSettings } from './ovni-rotation.js';
import { beginFirstThread, beginTrace } from './thread-stream.js';

/** Begins the ovni trace of the process, in one directory or in the first of a series. */
export function beginOvni(settings: Settings, run: Run, used: number): PieceSettings | undefined {
  const directory = enterFormat(run, RUN_FOLDER);
  const sizes = sizesOf(used);
  const most = sizes.atMaxBytes === 'stop' ? sizes.maxBytes : 0;
  const { firstClock, topmost } = run;
  if (sizes.rotateBytes === 0) {
    beginTrace(settings, directory, most);
    beginFirstThread(firstClock, topmost);
    return undefined;
  }
  const { firstPiece } = rotation();
  const begun = topmost ? firstClock : clockNow();
  beginTrace(settings, firstPiece(directory, begun), most, directory);
  beginFirstThread(begun, true);
  return { ...sizes, directory };
}

/** Only a trace in pieces loads it. */
export function rotation(): typeof import('./ovni-rotation.js') {
  return require('./ovni-rotation.js') as typeof import('./ovni-rotation.js');
}

/** The moment with which a late stream of the present ovni trace leads. */
export function firstClockOf(plan: ProcessPlan): bigint {
  return plan.pieces === undefined ? plan.firstClock : rotation().presentPiece().begun;
}
