/**
 * Traces of MPI ranks in DUMPI's format.
 *
 * @module dumpi
 */
export { TracewrightError, TraceFormatError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { Finding, Progress } from '../core/finding.js';
export type { CallArguments, CallFields, CallName, Integers, Status } from './calls.js';
export { checkRun, checkTrace } from './read/check.js';
export type { DumpiCheckOptions } from './read/check.js';
export type { CheckOptions } from '../core/finding.js';
export * from './constants.js';
export { dumpi2ascii } from './read/dumpi2ascii.js';
export type { FieldCursorOptions, TextEncoding } from './read/field-cursor.js';
export type {
  Configuration,
  ConfigurationOptions,
  MpiCallName,
  Setting,
  Timestamps,
} from './write/configuration.js';
export { createHandles, HandleNumbers } from './write/handles.js';
export type { HandleKind, Handles } from './write/handles.js';
export { openRank, Rank } from './write/rank.js';
export type { CallCounts } from './write/rank.js';
export type { FunctionAt } from './write/function-addresses.js';
export type { RankOptions } from './write/rank-options.js';
export type { Timing } from './write/call-starts.js';
export type { SectionName } from './layout.js';
export { metafileText, rankFileName, rankFiles, readMetafile, writeMetafile } from './metafile.js';
export type { Metafile } from './metafile.js';
export { readCalls } from './read/reader.js';
export type { ReadOptions } from './read/reader.js';
export type {
  CallRecord,
  CallRecordOf,
  CallTimes,
  ClockReading,
  CounterReading,
} from './read/call-record.js';
export { recoverTrace } from './read/recover.js';
export { readSections } from './read/section-reader.js';
export type { Footer, FunctionName, Header, Version } from './sections.js';
export type { Extent, Sections } from './read/section-reader.js';
