import { closeSync, openSync, readFileSync } from 'node:fs';
import { ofType, oneOf, ownOptions } from '../../core/options/argument.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import { hasCode, systemError, wrapSystemError } from '../../core/files/system-error.js';
import { takeElements } from '../../core/taken-elements.js';
import { calls } from '../calls.js';
import type { CallName } from '../calls.js';
import { MAX_COUNTER_LABEL_BYTES } from '../layout.js';

/** Whether a call is stored: never, always, or only when it succeeded (calls that probe). */
export type Setting = 'disable' | 'success' | 'enable';
/** Which clocks a record holds: the CPU time of the process, wall time, or both (`full`). */
export type Timestamps = 'none' | 'cpu' | 'wall' | 'full';
/** A call of MPI; the entry and exit of functions have settings of their own. */
export type MpiCallName = Exclude<CallName, 'Function_enter' | 'Function_exit'>;

/** Settings of dumpi.conf, with libdumpi's defaults filled in. */
export interface Configuration {
  /** Begin of the files' names; default `dumpi`. May name a directory. */
  fileRoot: string;
  /** Default `full`, as libdumpi's; a CPU time costs a system call. */
  timestamps: Timestamps;
  /** Whether statuses are stored. `success` stores them too, as libdumpi does, with a mask of its own. */
  statuses: Setting;
  /** Calls whose setting is not `otherCalls`. */
  calls: ReadonlyMap<MpiCallName, Setting>;
  /** The setting of all other calls (`MPI_Default`). */
  otherCalls: Setting;
  /** Whether the entry and the exit of functions are stored (`tracing`). */
  functionEnter: boolean;
  functionExit: boolean;
  /** Labels of counters (`PAPI`), in the order of the file. */
  counters: readonly string[];
}

/** As {@link Configuration}, where only what differs from the defaults is given. */
export interface ConfigurationOptions {
  fileRoot?: string;
  timestamps?: Timestamps;
  statuses?: Setting;
  calls?: Readonly<Partial<Record<MpiCallName, Setting>>>;
  otherCalls?: Setting;
  functionEnter?: boolean;
  functionExit?: boolean;
  counters?: readonly string[];
}

const SETTINGS: readonly Setting[] = ['disable', 'success', 'enable'];
const TIMESTAMPS: readonly Timestamps[] = ['none', 'cpu', 'wall', 'full'];
/** As many as libdumpi takes. */
const MAX_COUNTERS = 128;

const callNames: ReadonlySet<string> = new Set(
  calls.map(({ name }) => name).filter((name) => !name.startsWith('Function_')),
);

/** Whether a name is that of a call with a record. */
export function isCallName(name: unknown): name is MpiCallName {
  return typeof name === 'string' && callNames.has(name);
}

/** @throws TracewrightError for anything but a setting. */
export function oneSetting(field: string, value: unknown): Setting {
  return oneOf(field, value, SETTINGS);
}

function checkCounters(labels: unknown): readonly string[] {
  const limit = `at most ${MAX_COUNTERS} labels of 1 to ${MAX_COUNTER_LABEL_BYTES} bytes without NUL`;
  const taken = takeElements('config.counters', labels, MAX_COUNTERS, limit);
  for (const label of taken) {
    if (typeof label !== 'string') throw wrongType('config.counters', label, limit);
    const bytes = Buffer.byteLength(label);
    if (bytes === 0 || bytes > MAX_COUNTER_LABEL_BYTES || label.includes('\0')) {
      throw outOfRange('config.counters', label, limit);
    }
  }
  return taken as string[];
}

/**
 * Fills in libdumpi's defaults.
 *
 * @throws TracewrightError that names the field and what it may be.
 */
export function checkConfiguration(options: ConfigurationOptions): Configuration {
  if (typeof (options as unknown) !== 'object' || (options as unknown) === null) {
    throw wrongType('config', options, 'an object, or the path of a dumpi.conf');
  }
  options = ownOptions(
    options,
    [
      'fileRoot',
      'timestamps',
      'statuses',
      'calls',
      'otherCalls',
      'functionEnter',
      'functionExit',
      'counters',
    ],
    'config',
  );
  const given: unknown = options.calls ?? {};
  if (typeof given !== 'object') {
    throw wrongType('config.calls', given, 'an object of calls and their settings');
  }
  const settings = new Map<MpiCallName, Setting>();
  for (const [name, setting] of Object.entries(given as object)) {
    if (!isCallName(name)) throw outOfRange('config.calls', name, 'the name of an MPI call');
    settings.set(name, oneOf(`config.calls.${name}`, setting, SETTINGS));
  }
  const { fileRoot = 'dumpi', functionEnter = true, functionExit = true } = options;
  if (typeof (fileRoot as unknown) !== 'string') {
    throw wrongType('config.fileRoot', fileRoot, 'the beginning of a path');
  }
  if (fileRoot === '' || fileRoot.includes('\0')) {
    throw outOfRange('config.fileRoot', fileRoot, 'the beginning of a path, without NUL');
  }
  return {
    fileRoot,
    timestamps: oneOf('config.timestamps', options.timestamps ?? 'full', TIMESTAMPS),
    statuses: oneOf('config.statuses', options.statuses ?? 'enable', SETTINGS),
    calls: settings,
    otherCalls: oneOf('config.otherCalls', options.otherCalls ?? 'enable', SETTINGS),
    functionEnter: ofType('config.functionEnter', functionEnter, 'boolean'),
    functionExit: ofType('config.functionExit', functionExit, 'boolean'),
    counters: checkCounters(options.counters ?? []),
  };
}

/** A line of a dumpi.conf: key and value, or nothing. Blanks, tabs and `=` separate. */
function keyAndValue(line: string): [string, string] | undefined {
  const hash = line.indexOf('#');
  const words = (hash === -1 ? line : line.slice(0, hash))
    .split(/[ \t=\r]+/)
    .filter((w) => w !== '');
  const [key, value] = words;
  return key === undefined || value === undefined ? undefined : [key, value];
}

/**
 * Reads the text of a dumpi.conf as libdumpi does: the first setting of a function, of `MPI_Default`,
 * of `timestamp`, `statuses` and `fileroot` wins, the last of `tracing`; a key without a value is
 * nothing, as is `debug`, and keys that nobody knows are left alone.
 *
 * @param path named in errors.
 * @throws TracewrightError for a value that the key does not have; libdumpi aborts there.
 */
export function parseConfiguration(text: string, path = 'dumpi.conf'): ConfigurationOptions {
  const options: ConfigurationOptions = {};
  const settings: Partial<Record<MpiCallName, Setting>> = {};
  const counters: string[] = [];
  text.split('\n').forEach((line, index) => {
    const pair = keyAndValue(line);
    if (pair === undefined) return;
    const [key, value] = pair;
    const field = `${path}, line ${index + 1}: ${key}`;
    if (isCallName(key)) {
      settings[key] ??= oneOf(field, value, SETTINGS);
    } else if (key === 'MPI_Default') {
      options.otherCalls ??= oneOf(field, value, SETTINGS);
    } else if (key.startsWith('PAPI')) {
      if (counters.length < MAX_COUNTERS) counters.push(value);
    } else if (key === 'tracing') {
      const choice = oneOf(field, value, ['enable', 'disable', 'enter', 'exit'] as const);
      if (choice !== 'exit') options.functionEnter = choice !== 'disable';
      if (choice !== 'enter') options.functionExit = choice !== 'disable';
    } else if (key === 'statuses') {
      options.statuses ??= oneOf(field, value, SETTINGS);
    } else if (key === 'fileroot') {
      options.fileRoot ??= value;
    } else if (key === 'timestamp') {
      options.timestamps ??= oneOf(field, value, TIMESTAMPS);
    }
  });
  return { ...options, calls: settings, counters };
}

/**
 * Reads a file as libdumpi does: undefined where it cannot be opened, and an empty text for a
 * directory, which can be.
 */
function readIfOpened(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return readFileSync(fd, 'utf8');
  } catch (error) {
    if (hasCode(error, 'EISDIR')) return '';
    throw systemError('config', path, error);
  } finally {
    closeSync(fd);
  }
}

/**
 * The configuration that libdumpi would use: the file that `DUMPI_CONF` names, or `dumpi.conf` in the
 * working directory where that cannot be opened, or the defaults.
 *
 * @param path a file to read instead; it must be there.
 * @throws TracewrightError for a value that a key does not have, or a `path` that cannot be read.
 */
export function loadConfiguration(path?: string): Configuration {
  if (path !== undefined) {
    const text = wrapSystemError('config', path, () => readFileSync(path, 'utf8'));
    return checkConfiguration(parseConfiguration(text, path));
  }
  const named = process.env['DUMPI_CONF'];
  for (const each of named === undefined ? ['dumpi.conf'] : [named, 'dumpi.conf']) {
    const text = readIfOpened(each);
    if (text !== undefined) return checkConfiguration(parseConfiguration(text, each));
  }
  return checkConfiguration({});
}
