import {
  attributesAt,
  descriptionAt,
  EPOCH_OPTION,
  EPOCH_PACKET_BYTES,
  OPTION_NAME_OFFSET,
} from '../../../heph/layout.js';
import { CLOCK_DESCRIPTION } from '../../layout.js';
import { readClockRecord } from '../clock-record.js';
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

/** Takes note of an event if it is a clock record. */
export function noteClock(
  clock: TraceClock,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  end: number,
): void {
  const name = descriptionAt(at);
  const attributes = attributesAt(view, at);
  if (attributes - name !== CLOCK_NAME.length || attributes > end) return;
  const own = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (own.compare(CLOCK_NAME, 0, CLOCK_NAME.length, name, attributes) !== 0) return;
  const reading = readClockRecord(own, view, at, attributes, end);
  if (reading !== undefined) clock.noteClock(reading);
}
