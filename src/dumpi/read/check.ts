import { existsSync } from 'node:fs';
import { TraceFormatError } from '../../core/errors.js';
import { findingOf, limitFindings, warningOf } from '../../core/finding.js';
import type { CheckOptions, Finding } from '../../core/finding.js';
import { isDirectory } from '../../core/files/file-kind.js';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import { filesBelow } from '../../core/recovery/ring-search.js';
import { rankFiles, readMetafile } from '../metafile.js';
import type { Metafile } from '../metafile.js';
import { TraceCheck } from './check-calls.js';
import { MessageMatch } from './message-match.js';
import { CallCursor } from './reader.js';
import { existingRankFiles, isMetafile } from './run.js';
import { noSections, readSections } from './section-reader.js';
import type { Sections } from './section-reader.js';

const CHECK_OPTIONS = ['onProgress', 'repeats', 'isBeingWritten'] as const;

/** Options of {@link checkTrace} and {@link checkRun}. */
export interface DumpiCheckOptions extends CheckOptions {
  /**
   * Whether a process is writing a rank's file: its sections do not exist yet, and only its calls are
   * checked. The last call may be incomplete.
   */
  isBeingWritten?: ((file: string) => boolean) | undefined;
}

/**
 * Checks a rank's trace file, or those in a directory and below: each run by its metafile as
 * {@link checkRun} does, then the ranks of no run. Yields what the format's own reader would refuse or
 * die of (`error`) and what it reads otherwise than meant (`warning`). Memory does not grow with the
 * calls.
 *
 * Errors: `bad-file` (no magic, no index, a section that is not as the format says), `bad-call` (the
 * check of the calls ends there), `array-length` (arrays that one field counts differ: the reader
 * reads beyond the shorter one), `counter-label` (longer than the reader has room for, or missing
 * where calls have counters). Warnings: `newer-version`, `no-header`, `no-footer`, `unused-bytes`,
 * `array-cut` (the reader leaves elements out), `count` (an array is not as long as its count says),
 * `request-index` (of no request of the call, or twice), `nanoseconds`, `stop-before-start`,
 * `clock-backwards`, `function-nesting`, `function-name`, `footer-count`, `footer-total`, `no-init`,
 * `no-finalize`, `reader-finalize`, `reader-keyvals` and `reader-copy` (right by the format, but its
 * tools do not get over it).
 *
 * @throws TracewrightError `ERR_SYSTEM` when the file cannot be read.
 */
export function* checkTrace(
  path: string,
  options: DumpiCheckOptions = {},
): Generator<Finding, void> {
  options = ownOptions(options, CHECK_OPTIONS);
  if (!isDirectory(checkPath('path', path))) {
    yield* limitFindings(traceFindings(path, options), path, options.repeats);
    return;
  }
  const ofRuns = new Set<string>();
  for (const metafile of [...filesBelow(path, isMetafile)].sort()) {
    for (const file of existingRankFiles(metafile)) ofRuns.add(file);
    yield* checkRun(metafile, options);
  }
  for (const file of [...filesBelow(path, (name) => name.endsWith('.bin'))].sort()) {
    if (!ofRuns.has(file))
      yield* limitFindings(traceFindings(file, options), file, options.repeats);
  }
}

/**
 * Checks a whole run by its metafile: that every rank's file is there, names the same version and
 * start, each of them as {@link checkTrace} does, and that each message has both its ends. Errors:
 * `bad-metafile`, `missing-rank`. Warnings: `metafile`, where it says otherwise than the first rank's
 * header; `unmatched-message`, `message-size` (sends and receives, counted by communicator, sender,
 * receiver and tag; left out where a rank cannot be read to its end or has not stored such calls, where
 * the trace does not say who is in a communicator, or where there are more than 2^21 ends of these).
 */
export function* checkRun(path: string, options: DumpiCheckOptions = {}): Generator<Finding, void> {
  options = ownOptions(options, CHECK_OPTIONS);
  const files: string[] = [];
  let isWhole = true;
  try {
    const metafile = readMetafile(path);
    for (const file of rankFiles(path, metafile)) {
      if (existsSync(file)) {
        files.push(file);
        continue;
      }
      // A number of ranks that is wrong is said once, not a million times.
      const message = `${file} is missing: the run has ${metafile.numprocs} ranks`;
      yield { severity: 'error', rule: 'missing-rank', message, path };
      isWhole = false;
      break;
    }
    if (files[0] !== undefined) yield* againstHeader(path, files[0], metafile);
  } catch (error) {
    yield findingOf('bad-metafile', error);
    return;
  }
  const { repeats, isBeingWritten } = options;
  if (isBeingWritten !== undefined && files.some(isBeingWritten)) isWhole = false;
  const match = isWhole ? new MessageMatch(files.length) : undefined;
  for (const [rank, file] of files.entries()) {
    yield* limitFindings(traceFindings(file, options, match && { match, rank }), file, repeats);
  }
  if (match !== undefined) yield* limitFindings(match.findings(path), path, repeats);
}

function* againstHeader(path: string, first: string, metafile: Metafile): Generator<Finding, void> {
  const version = metafile.version.join('.');
  const { startTime } = metafile;
  let sections: Sections;
  try {
    sections = readSections(first);
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    // The check of that file says it.
    return;
  }
  const { header } = sections;
  if (header === undefined) return;
  const warning = (message: string): Finding => warningOf(path, 'metafile', message);
  if (header.version.join('.') !== version) {
    yield warning(`the version is ${version}, but ${first} has ${header.version.join('.')}`);
  }
  if (header.startTime !== BigInt(startTime)) {
    yield warning(`the start is ${startTime} s, but ${first} has ${header.startTime.toString()} s`);
  }
}

/** Who else receives the calls of a trace. */
interface Matching {
  match: MessageMatch;
  rank: number;
}

function* traceFindings(
  path: string,
  { onProgress, isBeingWritten }: DumpiCheckOptions,
  matching?: Matching,
): Generator<Finding, void> {
  let sections: Sections;
  let cursor: CallCursor;
  try {
    sections = isBeingWritten?.(path) === true ? noSections(path) : readSections(path);
    cursor = CallCursor.ofTrace(sections, { onProgress });
  } catch (error) {
    yield findingOf('bad-file', error);
    return;
  }
  try {
    matching?.match.begin(matching.rank, sections);
    yield* new TraceCheck(sections, cursor, matching?.match).findings();
  } finally {
    cursor.close();
  }
}
