import { TraceFormatError } from '../../core/errors.js';
import {
  ADDRESS_DIGITS,
  LENGTH_DIGITS,
  LONGEST_REFERENCE_LINE,
  RECORD_BYTES,
  SPACE_DIGITS,
  TIMESTAMP_DIGITS,
} from '../layout.js';

/** The error for a record with an invalid type. */
export function wrongTypeAt(path: string, offset: number, byte: number): TraceFormatError {
  const limit = 'a printable ASCII character other than a space';
  return new TraceFormatError(
    path,
    offset,
    `type must be ${limit}, got byte 0x${byte.toString(16).padStart(2, '0')}; ` +
      'is this a binary reference trace?',
    { field: 'type', value: byte, limit },
  );
}

/** The error for an incomplete record at the end of a file. */
export function cutRecord(path: string, offset: number, bytes: number): TraceFormatError {
  return new TraceFormatError(
    path,
    offset,
    `the file ends inside a record: ${bytes} of ${RECORD_BYTES} bytes`,
    { field: 'record', value: bytes, limit: `${RECORD_BYTES} bytes` },
  );
}

const LIMITS: Readonly<Record<string, string>> = {
  type: 'one printable ASCII character and a space',
  timestamp: `1 to ${TIMESTAMP_DIGITS} hexadecimal digits and a space`,
  length: `1 or ${LENGTH_DIGITS} hexadecimal digits and a space`,
  space: `1 to ${SPACE_DIGITS} hexadecimal digits and a space`,
  address: `1 to ${ADDRESS_DIGITS} hexadecimal digits and a newline`,
  line: `at most ${LONGEST_REFERENCE_LINE} characters`,
};

/** The error for a line that is not a reference. */
export function faultyReferenceLine(
  path: string,
  offset: number,
  field: string,
  found: string,
): TraceFormatError {
  const limit = LIMITS[field]!;
  const value = found.split('\n', 1)[0]!;
  return new TraceFormatError(
    path,
    offset,
    `${field} must be ${limit}, got ${JSON.stringify(value)}`,
    { field, value, limit },
  );
}

/** The error for a last line without a newline. It may also have lost digits. */
export function cutLine(path: string, offset: number): TraceFormatError {
  return new TraceFormatError(path, offset, 'the file ends inside a line: its newline is missing', {
    field: 'line',
    limit: 'a newline at the end',
  });
}
