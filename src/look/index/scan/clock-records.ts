import {
  DESCRIPTION_OFFSET,
  EPOCH_OPTION,
  EPOCH_PACKET_BYTES,
  OPTION_NAME_OFFSET,
  START_OFFSET,
  TYPE_U64,
} from '../../../heph/layout.js';
import { CLOCK_DESCRIPTION, CLOCK_REAL } from '../../../spans/layout.js';
import type { TraceClock } from './trace-clock.js';

const EPOCH_NAME = Buffer.from(EPOCH_OPTION);

/** Takes note of a metadata packet if it is the epoch's. */
export function noteEpoch(
  clock: TraceClock,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  size: number,
): void {
  if (size !== EPOCH_PACKET_BYTES) return;
  const name = at + OPTION_NAME_OFFSET;
  if (view.getUint16(name) !== EPOCH_OPTION.length) return;
  if (!EPOCH_NAME.equals(bytes.subarray(name + 2, name + 2 + EPOCH_OPTION.length))) return;
  clock.noteEpoch(view.getBigUint64(name + 2 + EPOCH_OPTION.length));
}

const CLOCK_NAME = Buffer.from(CLOCK_DESCRIPTION);
const REAL_NAME = Buffer.from(CLOCK_REAL);

/** Takes note of an event if it is a clock record. */
export function noteClock(
  clock: TraceClock,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  end: number,
): void {
  const description = at + DESCRIPTION_OFFSET;
  if (view.getUint16(description) !== CLOCK_NAME.length) return;
  const event = Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at);
  const name = DESCRIPTION_OFFSET + 2;
  if (event.length < name + CLOCK_NAME.length) return;
  if (event.compare(CLOCK_NAME, 0, CLOCK_NAME.length, name, name + CLOCK_NAME.length) !== 0) return;
  const real = event.indexOf(REAL_NAME, name + CLOCK_NAME.length);
  const value = real + REAL_NAME.length;
  if (real === -1 || value + 9 > event.length || event[value] !== TYPE_U64) return;
  clock.noteClock(view.getBigUint64(at + START_OFFSET), event.readBigUInt64BE(value + 1));
}
