import {
  attributesAt,
  EPOCH_OPTION,
  EPOCH_PACKET_BYTES,
  isDescribed,
  OPTION_NAME_OFFSET,
} from '../../heph/layout.js';
import { CLOCK_DESCRIPTION, CLOCK_REAL, CLOCK_TIME } from '../layout.js';
import type { RecordedAttributes } from '../span-record.js';
import { valueIn } from './attribute-in.js';
import { AttributeValues } from './attribute-values.js';
import type { ClockReading, TraceClock } from './trace-clock.js';

function word(attributes: RecordedAttributes, name: string): bigint | undefined {
  const value = valueIn(attributes, name);
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

/** The readings of a clock record by its attributes; undefined: it is not as the contract says. */
export function readingOf(attributes: RecordedAttributes): ClockReading | undefined {
  const real = word(attributes, CLOCK_REAL);
  const time = word(attributes, CLOCK_TIME);
  return real === undefined || time === undefined ? undefined : { real, time };
}

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
  clock.epoch = view.getBigUint64(name + 2 + EPOCH_OPTION.length);
}

const CLOCK_NAME = Buffer.from(CLOCK_DESCRIPTION);
const attributes = new AttributeValues();

/** Takes note of an event if it is a clock record. */
export function noteClock(
  clock: TraceClock,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  end: number,
): void {
  if (!isDescribed(bytes, view, at, end, CLOCK_NAME)) return;
  const own = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const values: RecordedAttributes = {};
  try {
    attributes.set(own, view, attributesAt(view, at), end);
    while (attributes.next()) {
      if (attributes.code === 0) attributes.put(values);
      else attributes.value();
    }
  } catch {
    return;
  }
  const reading = readingOf(values);
  if (reading !== undefined) clock.read(reading);
}
