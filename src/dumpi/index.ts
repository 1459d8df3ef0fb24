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
