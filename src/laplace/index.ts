/**
 * Traces in Laplace's formats: the memory references of a simulated machine, in binary or as text,
 * and the events of its kernel.
 *
 *     import { openKernelEvents, openReferences } from 'tracewright/laplace';
 *
 *     const references = openReferences('run.references');
 *     const kernel = openKernelEvents('run.kernel.txt');
 *     kernel.schedule(cycle, 0x100);
 *     references.load(cycle + 1, 4, 0x9f8e7, 0x9a8b7c6d);
 *     references.close();
 *     kernel.close();
 *
 * @module laplace
 */
export { TracewrightError, TraceFormatError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { Finding, Progress } from '../core/finding.js';
export type { RecoveredStream, Recovery, RecoverOptions } from '../core/recovery/recovery.js';
export type { RingOptions } from '../core/options/ring-options.js';
export { checkKernelEvents, checkReferences } from './read/check.js';
export type { CheckKernelOptions } from './read/check.js';
export { referencesToText, textToReferences } from './read/convert-references.js';
export type { ConvertReferencesOptions, ReferenceConversion } from './read/convert-references.js';
export type { Wide } from './hexadecimal.js';
export type { EmitAnyEvent, EmitKernelEvent, KernelEventValues } from './write/kernel-emitter.js';
export { kernelEventKinds } from './kernel-event-kinds.js';
export type { KernelEventKind, KernelField, KernelFieldType } from './kernel-event-kinds.js';
export { openKernelEvents } from './write/kernel-events.js';
export type {
  KernelEventMethods,
  KernelEventOptions,
  KernelEvents,
  KernelTrace,
} from './write/kernel-events.js';
export { readKernelEvents } from './read/kernel-reader.js';
export type {
  KernelEvent,
  KernelEventOf,
  KernelTraceEnd,
  OtherKernelEvent,
  ReadKernelEventOptions,
} from './read/kernel-reader.js';
export type { Endian, ReferenceForm } from './layout.js';
export { recoverTrace } from './read/recover.js';
export type { LaplaceRecoverOptions } from './read/recover.js';
export type { ReferenceArrays } from './write/reference-batch.js';
export type { EmitReference } from './write/reference-emitter.js';
export { readReferences } from './read/reference-reader.js';
export type { ReadReferenceOptions, Reference } from './read/reference-reader.js';
export { openReferences } from './write/references.js';
export type { ReferenceOptions, References } from './write/references.js';
export type { TraceFileOptions, TraceTarget } from './write/trace-file.js';
