import type { RecordedValue } from '../../../spans/span-record.js';
import type { IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { entryOf } from '../../../core/map-entries.js';
import type { InterruptionTally } from './interruptions.js';
import { attributesOf } from '../names/recorded-attributes.js';
import type { StallCode, StallLine } from '../shape/thread-shape.js';

/** The attribute that has the stack of a stall. */
export const STACK = 'code.stacktrace';
/** As native/addon/stall_stacks.h writes it where the thread ran native code. */
const NATIVE = '(native code)';
/** How scripts of this package begin in a profile. */
export const OWN_CODE = 'tracewright/';
/** Stacks and their lines come from files of anybody. */
const MOST_FRAMES = 64;

interface Frame {
  readonly function: string | null;
  /** `/app/search.js:12` */
  readonly line: string;
}

/** The code that ran in a stall, by a stack whose lines are `at function (script:line:column)`; null: it does not say. */
export function codeOfStack(stack: RecordedValue | undefined): StallCode | null {
  if (typeof stack !== 'string') return null;
  const lines = stack.split('\n', MOST_FRAMES);
  const isNative = lines[0] === NATIVE;
  const code = codeOfFrames(isNative ? lines.slice(1) : lines);
  return code && { ...code, isNative };
}

/** The code that runs with these frames, the innermost first; null: they do not say. */
export function codeOfFrames(lines: readonly string[]): Omit<StallCode, 'isNative'> | null {
  let innermost: Frame | undefined;
  let code: Frame | undefined;
  for (const text of lines) {
    const frame = frameOf(text);
    innermost ??= frame;
    if (frame === undefined || frame.line.startsWith('node:')) continue;
    code ??= frame;
    if (isOfPackage(frame)) continue;
    return { ...code, caller: code === frame ? null : frame.line };
  }
  code ??= innermost;
  return code === undefined ? null : { ...code, caller: null };
}

function isOfPackage({ line }: Frame): boolean {
  return line.includes('/node_modules/');
}

/** The function and line of `at function (script:line:column)`. */
export function frameOf(text: string): Frame | undefined {
  if (!text.startsWith('at ')) return undefined;
  const frame = text.slice(3);
  const open = frame.endsWith(')') ? frame.indexOf(' (') : -1;
  const line = open === -1 ? frame : frame.slice(open + 2, -1);
  const column = line.lastIndexOf(':');
  if (column <= 0) return undefined;
  return { function: open === -1 ? null : frame.slice(0, open), line: line.slice(0, column) };
}

/** A stall of a line: when it began, and for how long the line itself was the reason, in ns. */
export interface StallOfLine {
  row: IndexRow;
  start: number;
  /** Without collections, and without the time in which the thread had no CPU, if it did not wait itself. */
  own: number;
}

type CountedLine = Omit<StallLine, 'requests' | 'waited' | 'ranIn'>;

/** Stalls by the code that ran, and those of each line. */
interface StallsByLine {
  lines: CountedLine[];
  stalls: StallOfLine[][];
}

/**
 * Adds up stalls by the code that ran, those that took the most time first. Where the thread had no CPU, or collected
 * garbage for half of the time, its code is not the reason.
 */
export function stallsByLine(index: LookIndex, interruptions: InterruptionTally): StallsByLine {
  const lines = new Map<string, { line: CountedLine; stalls: StallOfLine[] }>();
  for (const stall of interruptions.stallRows) {
    const { row, track, start, end, service } = stall;
    const { collection } = interruptions.overlap(track, start, end);
    if (2 * collection > end - start) continue;
    const valueOf = attributesOf(index, row);
    const cause = valueOf('eventloop.cause');
    if (cause !== 'code' && cause !== 'wait') continue;
    const code = codeOfStack(valueOf(STACK));
    if (code === null) continue;
    const key = JSON.stringify([
      ...[service, code.function, code.isNative, code.isNative ? '' : code.line],
    ]);
    const { line, stalls } = entryOf(lines, key, () => ({
      line: { ...code, service, count: 0, total: 0, max: 0, delayed: 0 },
      stalls: [],
    }));
    const duration = end - start;
    const open = valueOf('eventloop.open_spans');
    const cpu = cause === 'code' ? valueOf('eventloop.cpu_ms') : undefined;
    const own = typeof cpu === 'number' ? Math.min(cpu * 1e6, duration) : duration;
    stalls.push({ row: stall, start, own: Math.max(0, own - collection) });
    line.count++;
    line.total += duration;
    line.max = Math.max(line.max, duration);
    line.delayed += typeof open === 'number' ? open : Number(open ?? 0);
  }
  const sorted = [...lines.values()].sort((a, b) => b.line.total - a.line.total);
  return { lines: sorted.map(({ line }) => line), stalls: sorted.map(({ stalls }) => stalls) };
}
