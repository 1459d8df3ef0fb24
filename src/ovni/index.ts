/**
 * Traces in the ovni format: the runtime API of libovni, for each thread of a Node process.
 *
 *     import { procInit, threadInit, addCpu, event, threadFree, procFini } from 'tracewright/ovni';
 *
 * Every function throws a `TracewrightError` for a wrong argument or a call at the wrong time, and
 * leaves the trace valid.
 *
 * @module ovni
 */
import { ofType, ownOptions } from '../core/options/argument.js';
import { getAttribute, setAttribute } from './write/attribute.js';
import type { AttributeValue } from './write/attribute.js';
import type { DeclaredMcv } from './catalog.js';
import { compileEmit, compileEmitJumbo } from './write/compiled-emit.js';
import { compileEvent } from './write/event.js';
import { compileMarks, defineMark, labelMark } from './write/mark.js';
import type { Arguments } from './signature.js';
import { readyThread, thread } from './write/thread.js';

export { TracewrightError, TraceFormatError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { RingOptions } from '../core/options/ring-options.js';
export type { FaultHandler, TargetFault } from '../core/ring/target-health.js';
export type { Finding, Progress } from '../core/finding.js';
export type { Recovery, RecoverOptions, RecoveredStream } from '../core/recovery/recovery.js';
export type { AttributeValue } from './write/attribute.js';
export { events, models } from './catalog.js';
export type { DeclaredMcv, Events, ModelName, Models } from './catalog.js';
export { checkTrace } from './read/check.js';
export type { CheckOptions } from '../core/finding.js';
export { convertToVersion3 } from './read/convert-version3.js';
export type { Conversion, ConversionNote, ConvertOptions } from './read/convert-version3.js';
export { procFini, procInit, procSetRank } from './write/process.js';
export type { ProcessOptions } from './write/process.js';
export type { ProcessDirectory } from './write/process-directory.js';
export { readStream } from './read/ordered-reader.js';
export { decodeArguments } from './read/event-arguments.js';
export type { ReadStreamOptions, StreamEvent } from './read/reader.js';
export type { DecodedArguments } from './read/event-arguments.js';
export { procStats } from './write/stats.js';
export type { ProcessStats } from './write/stats.js';
export { recoverTrace } from './read/recover.js';
export { parseSignature } from './signature.js';
export type {
  Argument,
  Arguments,
  ArgumentType,
  ArgumentTypes,
  NotAnArgument,
  NotDeclared,
  Signature,
} from './signature.js';
export {
  addCpu,
  clockNow,
  flush,
  threadFree,
  threadInit,
  threadIsReady,
  threadRequire,
} from './write/thread.js';
export { readTraceDirectory } from './read/trace-directory.js';
export type {
  ThreadStream,
  TraceDirectory,
  TraceDirectoryOptions,
  TraceLoom,
  TraceProcess,
} from './read/trace-directory.js';
export type { JsonObject, JsonValue } from '../core/json.js';
export type { Cpu, MarkType, ProcessMetadata, ThreadMetadata } from './read/metadata.js';

const record = compileEmit(thread);
const recordJumbo = compileEmitJumbo(thread);
const marks = compileMarks(thread);

/**
 * Emits a normal event (libovni: `ovni_ev_emit`).
 *
 * For an event that is emitted often, {@link event} makes a function that is faster and checks the
 * types of the arguments.
 *
 * @param mcv model, category and value: three printable ASCII characters.
 * @param payload 0 or 2 to 16 bytes, in the machine's byte order; for an event of ovni's own model at
 *   least what the emulator demands.
 * @param clock nanoseconds of CLOCK_MONOTONIC; default: now. Not before the stream's last event, except
 *   between `OU[` and `OU]`: then the emulator needs `ovnisort` to have sorted the trace.
 * @throws TracewrightError for a wrong argument, `ERR_ORDER` outside of `threadInit` and
 *   `threadFree`, and for a state event (`OH*`) that the thread's state does not allow.
 * Source: trace specification version 1, "Normal events".
 */
export function emit(mcv: string, payload?: Uint8Array, clock?: bigint): void {
  record(mcv, payload, clock);
}

/**
 * Emits a jumbo event (libovni: `ovni_ev_jumbo_emit`). Data that the ring cannot hold is written to the
 * file after all earlier events, while the caller waits.
 *
 * @param data 0 to 2^32 - 1 bytes. The emulator reads events of up to about 2^31.
 * @param clock as for {@link emit}.
 * @throws TracewrightError as {@link emit} does.
 * Source: trace specification version 1, "Jumbo events".
 */
export function emitJumbo(mcv: string, data: Uint8Array, clock?: bigint): void {
  recordJumbo(mcv, data, clock);
}

/**
 * Makes a function that emits one kind of event on the calling thread, from ovni's own notation.
 *
 *     const taskCreate = event('6Tc(u32 taskid, u32 typeid)');
 *     taskCreate(7, 1);
 *
 * The MCV of a declared event is enough: `event('OHx')`. Integers of 64 bits are numbers or bigints,
 * strings are written with their NUL. Make the function once, before or after `threadInit`. Calling it
 * before `threadInit` is an error. Additional arguments are ignored.
 *
 * @throws TracewrightError `ERR_ARGUMENT_RANGE` if `signature` is not one, or names an event that a
 *   model of the emulator declares with other arguments or not at all. {@link emit} takes any MCV.
 * Source: trace specification version 1; the emulator's list of events.
 */
export function event<S extends DeclaredMcv | (string & {})>(
  signature: S,
): (...values: Arguments<S>) => void {
  return compileEvent(thread, signature);
}

/**
 * Defines a mark type for all threads of the process, also those that have begun (libovni:
 * `ovni_mark_type`). Several threads may define it, with the same title.
 *
 * @param type 0 to 99.
 * @param title 1 to 511 bytes of UTF-8.
 * @param options `stack`: values are pushed and popped, up to 512 of them; otherwise one is set.
 * @throws TracewrightError for a wrong argument, for a type that any thread has defined otherwise, and
 *   `ERR_ORDER` outside of `threadInit` and `threadFree`.
 */
export function markType(type: number, title: string, options: { stack?: boolean } = {}): void {
  const { stack = false } = ownOptions(options, ['stack']);
  ofType('stack', stack, 'boolean');
  defineMark(readyThread('markType'), type, title, stack);
}

/**
 * Gives a value of a mark type its name (libovni: `ovni_mark_label`).
 *
 * @param type one that {@link markType} has defined on any thread.
 * @param value 1 to 2^63 - 1.
 * @param label 1 to 511 bytes of UTF-8.
 * @throws TracewrightError for a wrong argument, and for a value to which any thread has given another
 *   label.
 */
export function markLabel(type: number, value: number | bigint, label: string): void {
  labelMark(readyThread('markLabel'), type, value, label);
}

/**
 * Pushes a value (libovni: `ovni_mark_push`).
 *
 * @param type a stack that {@link markType} has defined on any thread.
 * @param value any 64-bit integer but 0.
 * @throws TracewrightError for a wrong argument, `ERR_ORDER` if 512 values are pushed.
 */
export function markPush(type: number, value: number | bigint): void {
  marks.push(type, value);
}

/**
 * Pops the value on top (libovni: `ovni_mark_pop`).
 *
 * @param type a stack that {@link markType} has defined on any thread.
 * @param value the value on top.
 * @throws TracewrightError for another value, `ERR_ORDER` if none is pushed.
 */
export function markPop(type: number, value: number | bigint): void {
  marks.pop(type, value);
}

/**
 * Sets the value of a mark type that is not a stack (libovni: `ovni_mark_set`).
 *
 * @param type one that {@link markType} has defined on any thread without `stack`.
 * @param value any 64-bit integer but 0.
 * @throws TracewrightError for a wrong argument, `ERR_ORDER` for a stack.
 */
export function markSet(type: number, value: number | bigint): void {
  marks.set(type, value);
}

/**
 * Whether the calling thread's stream has an attribute (libovni: `ovni_attr_has`).
 *
 * @throws TracewrightError as {@link attrSet} does.
 */
export function attrHas(key: string): boolean {
  return getAttribute(readyThread('attrHas'), key) !== undefined;
}

/**
 * Sets an attribute of the calling thread's stream (libovni: `ovni_attr_set_*`).
 *
 * @param key names joined by dots: `app.version`. `ovni` and `version` are the format's own.
 * @param value any JSON value.
 * @throws TracewrightError for a wrong argument, `ERR_ORDER` outside of `threadInit` and
 *   `threadFree`.
 */
export function attrSet(key: string, value: AttributeValue): void {
  setAttribute(readyThread('attrSet'), key, value);
}

/**
 * An attribute of the calling thread's stream, or undefined (libovni: `ovni_attr_get_*`).
 *
 * @throws TracewrightError as {@link attrSet} does.
 */
export function attrGet(key: string): AttributeValue | undefined {
  return getAttribute(readyThread('attrGet'), key);
}

/**
 * Writes the attributes to disk now rather than soon (libovni: `ovni_attr_flush`).
 *
 * @throws TracewrightError `ERR_SYSTEM` if the metadata cannot be written, `ERR_ORDER` outside of
 *   `threadInit` and `threadFree`.
 */
export function attrFlush(): void {
  readyThread('attrFlush').metadata.write();
}
