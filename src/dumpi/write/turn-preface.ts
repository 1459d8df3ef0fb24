import { FUNCTION_ENTER_LABEL, FUNCTION_EXIT_LABEL } from '../calls.js';
import { ADDRESS_BYTES, TURN_ADDRESSES } from '../layout.js';
import type { Clock } from '../layout.js';
import { writeHead } from './record-head.js';
import type { RecordHead } from './record-head.js';

/**
 * The records that precede the first one of a new turn of a clock's 16-bit seconds: the entry and the
 * exit of a function. The commit adds their times and counters.
 */
export function turnPreface(head: RecordHead, clock: Clock): Buffer {
  const size = head.bytes + ADDRESS_BYTES;
  const preface = Buffer.alloc(2 * size);
  const view = new DataView(preface.buffer, preface.byteOffset, preface.length);
  [FUNCTION_ENTER_LABEL, FUNCTION_EXIT_LABEL].forEach((label, i) => {
    writeHead(head, view, i * size, label, 0);
    view.setBigUint64(i * size + head.bytes, TURN_ADDRESSES[clock]);
  });
  return preface;
}
