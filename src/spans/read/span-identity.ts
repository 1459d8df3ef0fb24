import { isUnsigned } from '../../heph/attribute-cursor.js';
import {
  FLAGS,
  IDENTITY_BYTES,
  MODIFIER_BYTES,
  PARENT_ID,
  RESERVED,
  SPAN_ID,
  TRACE_HIGH,
  VERSION,
} from '../layout.js';

/** Bytes of an attribute with a name of two bytes and a word. */
export const WORD_ATTRIBUTE = 13;

/** The u32 with which a reserved attribute begins: its length and its name. */
const headOf = (name: string): number => (2 << 16) | (name.charCodeAt(0) << 8) | name.charCodeAt(1);
const [TRACE_HEAD, SPAN_HEAD, PARENT_HEAD, FLAGS_HEAD] = [
  TRACE_HIGH,
  SPAN_ID,
  PARENT_ID,
  FLAGS,
].map(headOf) as [number, number, number, number];
/** That of definitions and of other records of ours. */
export const VERSION_HEAD = headOf(VERSION);

/** With what a reserved attribute begins, before its letter. */
const RESERVED_HEAD = (2 << 8) | RESERVED.charCodeAt(0);

/** The letter of the attribute at `at`; 0: it is none that is reserved, or too short for one. */
export function reservedAt(view: DataView, at: number, end: number): number {
  if (at + MODIFIER_BYTES > end) return 0;
  const head = view.getUint32(at);
  return head >>> 8 === RESERVED_HEAD ? head & 0xff : 0;
}

/** The first u32 of the attributes at `at`; 0: there is no attribute with a word. */
export function headAt(view: DataView, at: number, end: number): number {
  return at + WORD_ATTRIBUTE <= end ? view.getUint32(at) : 0;
}

/** Whether the attributes at `at` begin with the identity of a span. */
export function isIdentity(view: DataView, at: number, end: number): boolean {
  return (
    end - at >= IDENTITY_BYTES &&
    view.getUint32(at) === TRACE_HEAD &&
    isUnsigned(view.getUint8(at + 4)) &&
    view.getUint32(at + WORD_ATTRIBUTE) === SPAN_HEAD &&
    isUnsigned(view.getUint8(at + WORD_ATTRIBUTE + 4)) &&
    view.getUint32(at + 2 * WORD_ATTRIBUTE) === PARENT_HEAD &&
    isUnsigned(view.getUint8(at + 2 * WORD_ATTRIBUTE + 4)) &&
    view.getUint32(at + 3 * WORD_ATTRIBUTE) === FLAGS_HEAD &&
    isUnsigned(view.getUint8(at + 3 * WORD_ATTRIBUTE + 4))
  );
}

/** Names of the attributes of a span's identity that are not where or what they must be; empty: all are, or most are not. */
export function damagedIdentity(view: DataView, at: number, end: number): string[] {
  if (end - at < IDENTITY_BYTES) return [];
  const wrong = [TRACE_HIGH, SPAN_ID, PARENT_ID, FLAGS].filter((name, number) => {
    const head = at + number * WORD_ATTRIBUTE;
    return view.getUint32(head) !== headOf(name) || !isUnsigned(view.getUint8(head + 4));
  });
  return wrong.length > 2 ? [] : wrong;
}
