/**
 * Traces of MPI ranks in DUMPI's format.
 *
 * @module dumpi
 */
export { TracewrightError, TraceFormatError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { Finding, Progress } from '../core/finding.js';
export type { CallArguments, CallFields, CallName, Integers, Status } from './calls.js';
export * from './constants.js';
export { dumpi2ascii } from './dumpi2ascii.js';
export { readCalls } from './reader.js';
export type {
  CallRecord,
  CallRecordOf,
  CallTimes,
  ClockReading,
  CounterReading,
  ReadOptions,
} from './reader.js';
export { readSections } from './sections.js';
export type { Extent, Footer, FunctionName, Header, Sections, Version } from './sections.js';
