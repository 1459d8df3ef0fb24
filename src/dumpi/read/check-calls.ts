import { entryOf } from '../../core/map-entries.js';
import type { Finding } from '../../core/finding.js';
import { COUNTED_LABELS, TOTAL_LABEL, callNamed, countName } from '../calls.js';
import type { FieldType } from '../calls.js';
import { nanosecondsOf } from './dump.js';
import { printedCounts } from './dumpi2ascii.js';
import { MAGIC_BYTES, MAX_COUNTER_LABEL_BYTES, WRITTEN_VERSION } from '../layout.js';
import type { MessageMatch } from './message-match.js';
import type { CallCursor } from './reader.js';
import type { CallRecord, CallTimes, FieldValue } from './call-record.js';
import { wrongIndexOf } from '../request-indices.js';
import { isAtLeast } from '../sections.js';
import { findingOf, warningOf } from '../../core/finding.js';
import type { Sections } from './section-reader.js';

const NANOSECONDS = 1_000_000_000;
/** Functions whose names are followed at once; a trace with more of them open is no trace. */
const MAX_OPEN_FUNCTIONS = 1 << 20;

/** Whether dumpi2dumpi aborts on a call: on those of MPI-IO requests, and on records of functions. */
function isUncopied(name: string): boolean {
  return name.startsWith('MPIO_') || name === 'Function_enter' || name === 'Function_exit';
}

/** Checks the calls of one trace, and what its sections say of them. */
export class TraceCheck {
  readonly #match: MessageMatch | undefined;
  readonly #sections: Sections;
  readonly #cursor: CallCursor;
  readonly #stored = new Float64Array(COUNTED_LABELS);
  readonly #functionNames: ReadonlySet<bigint>;
  /** Whether the file has no sections yet. */
  readonly #isBeingWritten: boolean;
  readonly #unnamed = new Set<bigint>();
  /** Functions that were entered and not left, by thread. */
  readonly #open = new Map<number, bigint[]>();
  #openCount = 0;
  /** When the last call of each thread ended. */
  readonly #lastStop = new Map<number, bigint>();
  #finalized = false;
  #readerEnded = false;
  #copyAborts = false;
  #countersWithoutLabels = false;

  constructor(sections: Sections, cursor: CallCursor, match: MessageMatch | undefined) {
    this.#match = match;
    this.#sections = sections;
    this.#cursor = cursor;
    this.#functionNames = new Set(sections.functionNames.map(({ address }) => address));
    this.#isBeingWritten = sections.index.body === 0;
  }

  *findings(): Generator<Finding, void> {
    if (!this.#isBeingWritten) yield* this.#beforeCalls();
    const cursor = this.#cursor;
    try {
      for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
        this.#match?.call(call);
        yield* this.#call(call);
      }
    } catch (error) {
      yield findingOf('bad-call', error);
      return;
    }
    if (this.#isBeingWritten) return;
    this.#match?.end();
    yield* this.#unusedBytes();
    yield* this.#afterCalls();
    yield* this.#footer();
  }

  get #lacksCounterLabels(): boolean {
    return this.#sections.counterLabels === undefined && !this.#isBeingWritten;
  }

  *#beforeCalls(): Generator<Finding, void> {
    const { header, counterLabels, keyvals, index } = this.#sections;
    if (header === undefined) {
      yield this.#warning('no-header', 'the trace has no header: its version is not known');
    } else if (!isAtLeast(WRITTEN_VERSION, header.version)) {
      const message = `the trace is of version ${header.version.join('.')}, newer than the reader's ${WRITTEN_VERSION.join('.')}`;
      yield this.#warning('newer-version', message, index.header);
    }
    for (const label of counterLabels ?? []) {
      const bytes = Buffer.byteLength(label);
      if (bytes <= MAX_COUNTER_LABEL_BYTES) continue;
      const message = `a counter's label has ${bytes} bytes; the reader takes ${MAX_COUNTER_LABEL_BYTES} at most`;
      yield this.#error('counter-label', message, index.counterLabels);
    }
    if (keyvals.length > 0) {
      const trouble =
        keyvals.length === 1
          ? 'dumpi2dumpi writes without end on a trace with one'
          : 'dumpi2ascii and dumpi2dumpi abort on more than one';
      const message = `keyvals: ${keyvals.length}; ${trouble}, though this is right by the format`;
      yield this.#warning('reader-keyvals', message, index.keyvals);
    }
  }

  *#call(call: CallRecord): Generator<Finding, void> {
    const { name, label, offset } = call;
    if (label < COUNTED_LABELS) this.#stored[label]!++;
    if (this.#finalized && name === 'MPI_Send' && !this.#readerEnded) {
      this.#readerEnded = true;
      const message =
        "an MPI_Send follows MPI_Finalize: the format's own reader takes it for the end";
      yield this.#warning('reader-finalize', message, offset);
    }
    this.#finalized ||= name === 'MPI_Finalize';
    if (!this.#copyAborts && isUncopied(name)) {
      this.#copyAborts = true;
      const message = `dumpi2dumpi aborts on ${name}, though this is right by the format`;
      yield this.#warning('reader-copy', message, offset);
    }
    if (call.counters !== undefined && this.#lacksCounterLabels) {
      if (!this.#countersWithoutLabels) {
        const message = 'the call has counters, but the trace has no labels for them';
        yield this.#error('counter-label', message, offset);
      }
      this.#countersWithoutLabels = true;
    }
    yield* this.#arrays(call);
    yield* this.#index(call);
    yield* this.#times(call);
    if (name === 'Function_enter') yield* this.#enter(call.thread ?? 0, call.fields.fn, offset);
    if (name === 'Function_exit') yield* this.#exit(call.thread ?? 0, call.fields.fn, offset);
  }

  /** The reader prints as many elements of each array as the last array of the same count has. */
  *#arrays({ name, fields, offset }: CallRecord): Generator<Finding, void> {
    const call = callNamed(name)!;
    const values = fields as Readonly<Record<string, FieldValue | undefined>>;
    let counts: ReadonlyMap<string, number> | undefined;
    for (const { name: array, count, type, dimensions } of call.fields) {
      const value = values[array];
      if (dimensions === 0 || count === undefined || !Array.isArray(value)) continue;
      counts ??= printedCounts(call.fields, values);
      const printed = counts.get(count) ?? 0;
      const { length } = value;
      if (length === printed || (length === 0 && !ALWAYS_PRINTED.has(type))) continue;
      const message = `${name}: ${array} has ${length} elements, but the reader prints ${printed} as it takes ${count} to be`;
      if (length < printed) yield this.#error('array-length', message, offset);
      else yield this.#warning('array-cut', message, offset);
    }
    for (const [count, printed] of counts ?? []) {
      const said = values[count];
      if (typeof said !== 'number' || said === printed || printed === 0) continue;
      const message = `${name}: ${count} is ${said}, but its array has ${printed} elements`;
      yield this.#warning('count', message, offset);
    }
  }

  *#index({ name, fields, offset }: CallRecord): Generator<Finding, void> {
    const wrong = wrongIndexOf(name, fields);
    if (wrong === undefined) return;
    const message = `${name}: ${wrong.field} is ${wrong.value}, not ${wrong.limit}: which messages are complete is not known`;
    yield this.#warning('request-index', message, offset);
  }

  *#times(call: CallRecord): Generator<Finding, void> {
    const { name, offset, cpu, wall } = call;
    for (const times of [cpu, wall]) {
      if (times === undefined) continue;
      yield* this.#clock(name, times, offset);
    }
    if (wall === undefined) return;
    const thread = call.thread ?? 0;
    const stop = nanosecondsOf(wall.stop);
    const last = this.#lastStop.get(thread);
    this.#lastStop.set(thread, stop);
    if (last !== undefined && stop < last) {
      const message = `${name} of thread ${thread} ends ${(last - stop).toString()} ns before the call in front of it`;
      yield this.#warning('clock-backwards', message, offset);
    }
  }

  *#clock(name: string, { start, stop }: CallTimes, offset: number): Generator<Finding, void> {
    for (const { nanoseconds } of [start, stop]) {
      if (nanoseconds < NANOSECONDS) continue;
      const message = `${name} has ${nanoseconds} ns in addition to its seconds, not less than ${NANOSECONDS}`;
      yield this.#warning('nanoseconds', message, offset);
    }
    if (nanosecondsOf(stop) < nanosecondsOf(start)) {
      yield this.#warning('stop-before-start', `${name} ends before it begins`, offset);
    }
  }

  *#enter(thread: number, fn: bigint, offset: number): Generator<Finding, void> {
    yield* this.#named(fn, offset);
    const open = entryOf(this.#open, thread, () => []);
    if (this.#openCount >= MAX_OPEN_FUNCTIONS) return;
    this.#openCount++;
    open.push(fn);
  }

  *#exit(thread: number, fn: bigint, offset: number): Generator<Finding, void> {
    const open = this.#open.get(thread) ?? [];
    if (open.at(-1) === fn) {
      open.pop();
      this.#openCount--;
      return;
    }
    const message = `function ${addressText(fn)} is left, but ${open.length === 0 ? 'none was entered' : `${addressText(open.at(-1)!)} was entered last`}`;
    yield this.#warning('function-nesting', message, offset);
  }

  *#named(fn: bigint, offset: number): Generator<Finding, void> {
    if (this.#isBeingWritten) return;
    if (this.#functionNames.has(fn) || this.#unnamed.has(fn)) return;
    if (this.#unnamed.size < MAX_OPEN_FUNCTIONS) this.#unnamed.add(fn);
    yield this.#warning('function-name', `function ${addressText(fn)} has no name`, offset);
  }

  /** Reports bytes between the sections, apart from an empty section of keyvals, which has no entry. */
  *#unusedBytes(): Generator<Finding, void> {
    const { extents, index, indexOffset } = this.#sections;
    const covered = [
      { offset: 0, size: MAGIC_BYTES },
      { offset: index.body, size: this.#cursor.offset - index.body },
      ...Object.values(extents),
      { offset: indexOffset, size: 0 },
    ].sort((a, b) => a.offset - b.offset);
    let at = 0;
    for (const { offset, size } of covered) {
      const gap = offset - at;
      const footer = extents.footer;
      const isKeyvals =
        gap === 4 &&
        index.keyvals === 0 &&
        footer !== undefined &&
        footer.offset + footer.size === at;
      if (gap > 0 && !isKeyvals) {
        yield this.#warning('unused-bytes', `${gap} bytes belong to no section`, at);
      }
      if (gap < 0) yield this.#warning('unused-bytes', `sections overlap by ${-gap} bytes`, offset);
      at = Math.max(at, offset + size);
    }
  }

  *#afterCalls(): Generator<Finding, void> {
    const initialized = this.#stored[callNamed('MPI_Init')!.label]! > 0;
    if (!initialized && this.#stored[callNamed('MPI_Init_thread')!.label] === 0) {
      yield this.#warning('no-init', 'the trace has neither MPI_Init nor MPI_Init_thread');
    }
    if (!this.#finalized) yield this.#warning('no-finalize', 'the trace has no MPI_Finalize');
    if (this.#openCount > 0) {
      const message = `${this.#openCount} functions were entered and not left`;
      yield this.#warning('function-nesting', message);
    }
  }

  *#footer(): Generator<Finding, void> {
    const { footer, index } = this.#sections;
    if (footer === undefined) {
      yield this.#warning('no-footer', 'the trace has no footer: its calls are not counted');
      return;
    }
    const { calls, ignored } = footer;
    let called = 0;
    let unstored = 0;
    for (let label = 0; label < TOTAL_LABEL; label++) {
      called += calls[label]!;
      unstored += ignored[label]!;
      const stored = this.#stored[label]!;
      const expected = calls[label]! - ignored[label]!;
      if (stored === expected) continue;
      const message = `${countName(label)} is stored ${stored} times, but the footer says ${calls[label]!} calls without ${ignored[label]!}`;
      yield this.#warning('footer-count', message, index.footer);
    }
    const total = (value: number): number => value % 2 ** 32;
    if (total(called) !== calls[TOTAL_LABEL] || total(unstored) !== ignored[TOTAL_LABEL]) {
      const message = `the totals are ${calls[TOTAL_LABEL]!} and ${ignored[TOTAL_LABEL]!}, but the counts add up to ${called} and ${unstored}`;
      yield this.#warning('footer-total', message, index.footer);
    }
  }

  #error(rule: string, message: string, offset: number): Finding {
    return { severity: 'error', rule, message, path: this.#sections.path, offset };
  }

  #warning(rule: string, message: string, offset?: number): Finding {
    return warningOf(this.#sections.path, rule, message, offset);
  }
}

/** Arrays that the reader prints without asking whether there are any. */
const ALWAYS_PRINTED: ReadonlySet<FieldType> = new Set(['datatype', 'info', 'distribution']);

function addressText(fn: bigint): string {
  return `0x${fn.toString(16)}`;
}
