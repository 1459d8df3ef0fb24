import { compile, mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import { GROUP_HIGH, GROUP_LOW, GROUP_WORDS } from '../../core/ring/waiting-ring.js';
import { COUNTER_OFFSET, END_OFFSET, START_OFFSET } from '../../heph/layout.js';
import { PARENT_REMOTE, STATUS_ERROR, STATUS_MASK, STATUS_SHIFT } from '../layout.js';
import type { Span } from '../span.js';
import { commitText, endScope } from '../write/span-ending.js';
import type { ShapedSpans } from '../write/span-shapes.js';
import type { OperationCounts } from './operation-counts.js';
import { BEGINS_WITHIN, FAILED, KEPT, RELEASED } from './undecided-traces.js';
import { RECORD_SHIFT } from './waiting-traces.js';
import type { WaitingTraces } from './waiting-traces.js';

/** Ends a span below the local root of an undecided trace; false: it is as it was, and ends otherwise. */
export type EndBelow = (span: Span) => boolean;

/** What the ends of waiting spans need of the output of their thread. */
export interface KeptSpans extends ShapedSpans {
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
  /** Of `span.start`: when the clocks are looked at again. */
  readonly nextLook: number;
}

/** Expression: nanoseconds that the record at `start` has at an offset. */
function timeAt(offset: number): string {
  return `view.getUint32(start + ${offset}) * ${2 ** 32} + view.getUint32(start + ${offset + 4})`;
}

/**
 * Compiles the usual end of a waiting span: all of it is in its slot. It does what `SpanOutput.record`,
 * `WaitingTraces.link` and `OperationCounts.add` do. Arrays that are constants take a third of the instructions of
 * their methods.
 */
export function compileEndBelow(
  output: KeptSpans,
  table: OpenRecords | undefined,
  traces: WaitingTraces,
  operations: OperationCounts,
): EndBelow {
  if (table === undefined || !mayCompile()) return () => false;
  const word = (number: number) => `groups[trace * ${GROUP_WORDS} + ${number}]`;
  const body = `return function endBelow(span) {
  const length = span.heldBytes;
  if ((span.p0 | span.p1) === 0 || (span.flags & ${PARENT_REMOTE}) !== 0 || length === 0) return false;
  if (span.extras !== undefined || output.takesAnything === false || ring.free < length) return false;
  const { t2, t3 } = span;
  let trace = buckets[t3 & ${traces.bucketMask}];
  while (trace !== 0 && (${word(GROUP_LOW)} !== t3 || ${word(GROUP_HIGH)} !== t2)) trace = nexts[trace];
  if (trace === 0 || span.start >= output.nextLook) return false;
  const state = traceFlags[trace];
  const waits = traceBytes[trace] + length;
  if ((state & ${BEGINS_WITHIN | KEPT | RELEASED}) !== 0 || waits > ${traces.longest}) return false;
  const failed = ((span.flags >> ${STATUS_SHIFT}) & ${STATUS_MASK}) === ${STATUS_ERROR};
  if (failed) traceFlags[trace] = state | ${FAILED};
  const operation = operations.of(span.name, span);
  const at = span.slot;
  const position = heads[0];
  ${commitText(output)}
  linked[0] = heads[0];
  view.setInt32(start + ${COUNTER_OFFSET}, lasts[trace]);
  const before = records[trace];
  if (before === 0) firsts[trace] = position;
  records[trace] = before + 1;
  traceBytes[trace] = waits;
  lasts[trace] = position;
  marks[start >> ${RECORD_SHIFT}] = operation.number;
  operation.release(${timeAt(END_OFFSET)} - (${timeAt(START_OFFSET)}), failed);
  span.slot = -1;
  span.heldBytes = 0;
  span.heldNames = undefined;
  span.own = undefined;
  return true;
};`;
  const scope = { ...endScope(output, table), ...traces.constants, operations };
  return compile('end of a waiting span', scope, body) as EndBelow;
}
