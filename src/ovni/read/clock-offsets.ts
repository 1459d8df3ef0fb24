import { isRegularFile } from '../../core/files/file-kind.js';
import { readRegularFile } from '../../core/files/regular-file.js';
import { causeOf } from './metadata.js';
import type { Fault } from './metadata.js';
import type { StreamEvent } from './reader.js';

/** The emulator refuses streams whose first clocks differ by more. */
export const MAX_GAP_NANOSECONDS = 3_600_000_000_000n;
/** Largest table of clock offsets that is read, in bytes: some 50,000 hosts. */
const MAX_CLOCK_OFFSETS_BYTES = 4 << 20;

/**
 * The bytes of a table of clock offsets.
 *
 * @throws TraceFormatError when this is not a regular file, or too large.
 */
export function readClockOffsetsFile(path: string): Buffer {
  return readRegularFile(path, MAX_CLOCK_OFFSETS_BYTES);
}

export function readClockOffsets(path: string, fault: Fault): Map<string, bigint> {
  const offsets = new Map<string, bigint>();
  if (!isRegularFile(path)) return offsets;
  let bytes: Buffer;
  try {
    bytes = readClockOffsetsFile(path);
  } catch (error) {
    fault(path, causeOf(error), 'clock-offsets');
    return offsets;
  }
  const lines = bytes.toString('utf8').split('\n').slice(1);
  for (const [index, line] of lines.entries()) {
    const fields = line.trim().split(/\s+/, 6);
    if (fields[0] === '') continue;
    const [rank, host, median] = fields;
    if (fields.length < 5 || !/^-?\d+$/.test(rank!) || !Number.isFinite(Number(median))) {
      fault(
        path,
        `line ${index + 2} is not "rank hostname offset_median offset_mean offset_std"`,
        'clock-offsets',
      );
      continue;
    }
    if (offsets.has(host!)) {
      fault(path, `line ${index + 2} repeats host ${JSON.stringify(host)}`, 'clock-offsets');
      continue;
    }
    offsets.set(host!, BigInt(Math.trunc(Number(median))));
  }
  if (offsets.size === 0) fault(path, 'the table of clock offsets has no rows', 'clock-offsets');
  return offsets;
}

/**
 * Makes a function that returns whether an event's clock is before that of the previous event. The
 * emulator counts in an i64 from 0, so a clock that is negative with its offset is too early as well.
 */
export function clockOrder(offset: bigint): (event: StreamEvent) => boolean {
  if (offset !== 0n) {
    let last = 0n;
    return (event) => {
      const clock = BigInt.asIntN(64, event.clock + offset);
      const backwards = clock < last;
      last = clock;
      return backwards;
    };
  }
  let lastHigh = 0;
  let lastLow = 0;
  return (event) => {
    const high = event.clockHigh | 0;
    const low = event.clockLow;
    const backwards = high < lastHigh || (high === lastHigh && low < lastLow);
    lastHigh = high;
    lastLow = low;
    return backwards;
  };
}
