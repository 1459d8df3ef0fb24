import { codeAt, textLength } from '../../core/utf8.js';

/**
 * The headers `traceparent` and `tracestate` of W3C Trace Context. What violates its rules is no
 * header, as it says.
 */

const TRACEPARENT =
  /^([\da-f]{2})-([\da-f]{8})([\da-f]{8})([\da-f]{8})([\da-f]{8})-([\da-f]{8})([\da-f]{8})-([\da-f]{2})(?:-.*)?$/;
/** Members of a `tracestate`. */
export const MAX_MEMBERS = 32;
/** Most characters of a `tracestate` that is passed on. W3C asks for 512 at least. */
const MAX_STATE = 8192;
/** Most characters that are read: a message may have headers of any length. */
const MAX_READ = 1 << 16;

/** OpenTelemetry's member: `ot=th:…;rv:…`, a threshold and a random value in hexadecimal digits. */
export const OPEN_TELEMETRY = 'ot';
/** Ours. Its value says whether the trace is recorded, where no threshold does. */
export const OWN = 'tracewright';

/** By Level 2 of the specification, which allows more than Level 1. */
const KEY = /^[a-z\d][a-z\d_\-*/@]{0,255}$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The ids of a span in the notation of W3C Trace Context. */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly trace_id: string;
  /** 16 hexadecimal digits. */
  readonly span_id: string;
  /** Two hexadecimal digits; the lowest bit says that the trace is recorded. */
  readonly trace_flags: string;
}

/** The ids of a header, as signed words. */
export interface TraceParent {
  trace: [number, number, number, number];
  span: [number, number];
  flags: number;
}

/** The ids of a span, as signed words. */
interface IdWords {
  readonly t0: number;
  readonly t1: number;
  readonly t2: number;
  readonly t3: number;
  readonly s0: number;
  readonly s1: number;
}

const word = (digits: string | undefined): number => Number.parseInt(digits!, 16) | 0;

const DIGITS = Buffer.from('0123456789abcdef');
/** Of a code that is no digit. */
const NO_DIGIT = 0x10;
/** The values of digits by their codes. */
const VALUES = Uint8Array.from({ length: 0x80 }, (_, code) =>
  DIGITS.includes(code) ? DIGITS.indexOf(code) : NO_DIGIT,
);
const TRACE_AT = 3;
const SPAN_AT = 36;
const FLAGS_AT = 53;
const LENGTH = 55;
const DASH = 0x2d;
/** The code of `a` minus that of `9`, minus 1. */
const FROM_DIGIT_TO_LETTER = 0x61 - 0x39 - 1;

/** All bits of the digits that were read of a header. */
let seen = 0;

function digitsAt(header: string, from: number, count: number): number {
  let read = 0;
  // V8 keeps what is no variable of the function in memory.
  let all = 0;
  for (let i = from; i < from + count; i++) {
    const code = codeAt(header, i);
    const value = code < VALUES.length ? VALUES[code]! : NO_DIGIT;
    all |= value;
    read = (read << 4) | value;
  }
  seen |= all;
  return read;
}

function parentOf(
  trace: TraceParent['trace'],
  span: TraceParent['span'],
  flags: number,
): TraceParent | undefined {
  if ((trace[0] | trace[1] | trace[2] | trace[3]) === 0 || (span[0] | span[1]) === 0) {
    return undefined;
  }
  // The other bits mean nothing yet, and must be sent as 0.
  return { trace, span, flags: flags & 0x03 };
}

/** Reads a `traceparent`; undefined for one that is not valid. */
export function parseTraceParent(header: string): TraceParent | undefined {
  const isUsual =
    textLength(header) === LENGTH &&
    header.startsWith('00-') &&
    codeAt(header, SPAN_AT - 1) === DASH &&
    codeAt(header, FLAGS_AT - 1) === DASH;
  if (!isUsual) return parseOther(header);
  seen = 0;
  const trace: TraceParent['trace'] = [
    digitsAt(header, TRACE_AT, 8),
    digitsAt(header, TRACE_AT + 8, 8),
    digitsAt(header, TRACE_AT + 16, 8),
    digitsAt(header, TRACE_AT + 24, 8),
  ];
  const span: TraceParent['span'] = [
    digitsAt(header, SPAN_AT, 8),
    digitsAt(header, SPAN_AT + 8, 8),
  ];
  const flags = digitsAt(header, FLAGS_AT, 2);
  return seen < NO_DIGIT ? parentOf(trace, span, flags) : undefined;
}

/** Of a later version only the beginning is known. */
function parseOther(header: string): TraceParent | undefined {
  const match = TRACEPARENT.exec(header);
  if (match === null) return undefined;
  const [, version, a, b, c, d, high, low, flags] = match;
  if (version === '00' || version === 'ff') return undefined;
  return parentOf([word(a), word(b), word(c), word(d)], [word(high), word(low)], word(flags));
}

/** A `traceparent` that is overwritten: a text of its bytes takes a seventh of the time that adding texts takes. */
const header = Buffer.from(`00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`);
const headerView = new DataView(header.buffer, header.byteOffset, header.length);

/** Puts four digits at once: each byte of a word gets one of the lowest 16 bits' four values, and then its code. */
function putDigits(at: number, bits: number): void {
  const values =
    ((bits & 0xf000) << 12) | ((bits & 0xf00) << 8) | ((bits & 0xf0) << 4) | (bits & 0xf);
  // From 10 on a digit is a letter.
  const letters = ((values + 0x06060606) >>> 4) & 0x01010101;
  headerView.setInt32(at, (values + 0x30303030 + letters * FROM_DIGIT_TO_LETTER) | 0);
}

function putWord(at: number, word: number): void {
  putDigits(at, word >>> 16);
  putDigits(at + 4, word);
}

/** The `traceparent` of ids in words. */
export function traceParentOf({ t0, t1, t2, t3, s0, s1 }: IdWords, flags: number): string {
  putWord(TRACE_AT, t0);
  putWord(TRACE_AT + 8, t1);
  putWord(TRACE_AT + 16, t2);
  putWord(TRACE_AT + 24, t3);
  putWord(SPAN_AT, s0);
  putWord(SPAN_AT + 8, s1);
  header[FLAGS_AT] = DIGITS[(flags >> 4) & 0xf]!;
  header[FLAGS_AT + 1] = DIGITS[flags & 0xf]!;
  return header.toString('latin1');
}

/** Of a `traceparent`: its version and the trace id. */
const END_OF_TRACE = 35;

/** Whether two valid `traceparent` are of one trace. */
export function isOfSameTrace(one: string, other: string): boolean {
  return one.slice(0, END_OF_TRACE) === other.slice(0, END_OF_TRACE);
}

/** The `traceparent` of a span. */
export function formatTraceParent({ trace_id, span_id, trace_flags }: SpanIds): string {
  return `00-${trace_id}-${span_id}-${trace_flags}`;
}

/**
 * A `tracestate` as it is to be sent on. Members that are not valid are left out, and what exceeds the limits. Of several
 * with one key the first stays.
 */
export function checkTraceState(header: string): string {
  const members = new Map<string, string>();
  let length = 0;
  for (const part of header.slice(0, MAX_READ).split(',')) {
    const member = part.replace(/^[ \t]+|[ \t]+$/g, '');
    const equals = member.indexOf('=');
    const key = member.slice(0, Math.max(equals, 0));
    if (!KEY.test(key) || !VALUE.test(member.slice(equals + 1)) || members.has(key)) continue;
    if (length + member.length >= MAX_STATE) continue;
    length += member.length + 1;
    members.set(key, member);
  }
  for (const key of [...members.keys()].reverse()) {
    if (members.size <= MAX_MEMBERS) break;
    // What others have decided counts, wherever it is.
    if (key !== OWN && key !== OPEN_TELEMETRY) members.delete(key);
  }
  return [...members.values()].join(',');
}
