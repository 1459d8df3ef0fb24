import { dirname, join } from 'node:path';
import { PRIVATE_FILE } from '../core/options/file-mode.js';
import { checkPath, integerIn, ofType } from '../core/options/argument.js';
import { outOfRange, TraceFormatError, TracewrightError, wrongType } from '../core/errors.js';
import { kindOf } from '../core/files/file-kind.js';
import { takeElements } from '../core/taken-elements.js';
import { readRegularFile } from '../core/files/regular-file.js';
import { wrapSystemError } from '../core/files/system-error.js';
import { replaceFile } from '../core/native-calls.js';
import type { Version } from './sections.js';

/** The content of a metafile: the text file of a run, which names the files of its ranks. */
export interface Metafile {
  hostname: string;
  /** Ranks of the run, and so files next to it: 1 or more. */
  numprocs: number;
  username: string;
  /** Start of the run in seconds since the Unix epoch. */
  startTime: number;
  /** Begin of the names of the ranks' files, without a directory. */
  fileprefix: string;
  version: Version;
}

/** Larger files are no metafiles. */
const MAX_BYTES = 1 << 20;
/** The most ranks that a file name's digits can tell apart. */
const MAX_RANKS = 2 ** 31 - 1;
const DIGITS = 4;

/** Name of a rank's trace file: `<fileprefix>-<rank, 4 digits or more>.bin`. */
export function rankFileName(fileprefix: string, rank: number): string {
  checkPath('fileprefix', fileprefix);
  integerIn('rank', rank, 0, 0x7fff_ffff);
  return `${fileprefix}-${String(rank).padStart(DIGITS, '0')}.bin`;
}

/** Line ends of metafiles, of any system. */
export const LINE_ENDS = /[\r\n]+/g;

/** @throws TracewrightError for a text that would be more than one line of a metafile. */
export function oneLine(field: string, text: string): string {
  if (text.search(LINE_ENDS) === -1) return text;
  throw outOfRange(field, text, 'a text of one line, which the metafile can hold');
}

/** Each field of a metafile, read once. */
function takeMetafile(metafile: unknown): Metafile {
  if (typeof metafile !== 'object' || metafile === null) {
    throw wrongType('metafile', metafile, 'an object such as readMetafile returns');
  }
  const { fileprefix, hostname, numprocs, startTime, username, version } =
    metafile as Partial<Metafile>;
  const limit = 'a list of three integers';
  const numbers = takeElements('version of the metafile', version, 3, limit);
  const [major = 0, minor = 0, patch = 0] = numbers.map((each) =>
    integerIn('version of the metafile', each, 0, 0x7fff_ffff),
  );
  return {
    hostname: ofType('hostname', hostname, 'string'),
    numprocs: integerIn('numprocs', numprocs, 0, 0x7fff_ffff),
    username: ofType('username', username, 'string'),
    startTime: integerIn('startTime', startTime, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    fileprefix: ofType('fileprefix', fileprefix, 'string'),
    version: [major, minor, patch],
  };
}

/**
 * The text of a metafile; `startime` is spelt as every reader expects it.
 *
 * @throws TracewrightError for a field of another type or range, or a text of more than one line.
 */
export function metafileText(metafile: Metafile): string {
  const { hostname, numprocs, username, startTime, fileprefix, version } = takeMetafile(metafile);
  const lines = {
    hostname: oneLine('hostname', hostname),
    numprocs,
    username: oneLine('username', username),
    startime: startTime,
    fileprefix: oneLine('fileprefix', fileprefix),
    version: version[0],
    subversion: version[1],
    subsubversion: version[2],
  };
  return Object.entries(lines)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/**
 * Writes a metafile that replaces the file at `path`: a reader finds the old or the
 * new one.
 *
 * @param fileMode its permissions, less the umask.
 * @throws TracewrightError `ERR_SYSTEM` when it cannot be written, or what is at `path` is no plain
 *   file but a link, say.
 */
export function writeMetafile(path: string, metafile: Metafile, fileMode = PRIVATE_FILE): void {
  const text = metafileText(metafile);
  const file = checkPath('path', path);
  wrapSystemError('path', path, () => {
    if (kindOf(file)?.isFile() === false) {
      throw new TracewrightError(
        'ERR_SYSTEM',
        `${file} is not a regular file: it is not replaced`,
        {
          field: 'path',
          value: path,
        },
      );
    }
    replaceFile(file, text, fileMode);
  });
}

function withoutDirectory(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Reads a metafile. Of what it says twice the last counts; lines that are no `key=value` and
 * keys that are not known are passed over. So is the directory in `fileprefix`, where libdumpi puts
 * that of `fileroot`: the ranks' files lie next to the metafile, and it leads nowhere else.
 *
 * @throws TraceFormatError when `numprocs` or `fileprefix` is missing or senseless, or when this is no
 *   regular file or larger than a MiB. TracewrightError
 *   `ERR_SYSTEM` when the file cannot be read.
 */
export function readMetafile(path: string): Metafile {
  const bytes = wrapSystemError('path', path, () => readRegularFile(path, MAX_BYTES, 'followed'));
  const values = new Map<string, string>();
  for (const line of bytes.toString('utf8').split(/\r?\n/)) {
    const equals = line.indexOf('=');
    if (equals > 0) values.set(line.slice(0, equals), line.slice(equals + 1));
  }
  const integer = (key: string): number => {
    const value = Number(values.get(key) ?? 0);
    return Number.isSafeInteger(value) ? value : 0;
  };
  const numprocs = integer('numprocs');
  const fileprefix = withoutDirectory(values.get('fileprefix') ?? '');
  if (numprocs < 1 || numprocs > MAX_RANKS) {
    throw new TraceFormatError(path, 0, 'numprocs is missing or is no number of ranks', {
      field: 'numprocs',
      value: values.get('numprocs'),
      limit: `an integer from 1 to ${MAX_RANKS}`,
    });
  }
  if (fileprefix === '' || fileprefix.includes('\0')) {
    throw new TraceFormatError(path, 0, 'fileprefix is missing', { field: 'fileprefix' });
  }
  return {
    hostname: values.get('hostname') ?? '',
    numprocs,
    username: values.get('username') ?? '',
    startTime: integer('startime'),
    fileprefix,
    version: [integer('version'), integer('subversion'), integer('subsubversion')],
  };
}

/** Paths of the ranks' files that a metafile names, in the order of the ranks. */
export function* rankFiles(path: string, metafile: Metafile): Generator<string, void> {
  checkPath('path', path);
  const { fileprefix, numprocs } = takeMetafile(metafile);
  for (let rank = 0; rank < numprocs; rank++) {
    yield join(dirname(path), rankFileName(fileprefix, rank));
  }
}
