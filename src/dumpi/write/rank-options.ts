import { isMainThread } from 'node:worker_threads';
import { hostname as osHostname } from 'node:os';
import { resolve } from 'node:path';
import { types } from 'node:util';
import { cpuTime, readClock } from '../../core/clock.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import { integerIn, ofType, ownOptions } from '../../core/options/argument.js';
import { checkRingOptions, RING_OPTIONS } from '../../core/options/ring-options.js';
import type { CheckedRingOptions, RingOptions } from '../../core/options/ring-options.js';
import { takeElements } from '../../core/taken-elements.js';
import { filePrefix } from '../file-names.js';
import type { KeptSections } from '../kept-sections.js';
import {
  MAX_SECTION_ELEMENTS,
  MAX_STRING_BYTES,
  TURN_SECONDS,
  WRITTEN_VERSION,
} from '../layout.js';
import { LINE_ENDS, oneLine } from '../metafile.js';
import { checkSectionString } from '../section-encoder.js';
import { checkConfiguration, loadConfiguration } from './configuration.js';
import type { Configuration, ConfigurationOptions } from './configuration.js';
import { Counters } from './counters.js';
import { recordHead } from './record-head.js';
import type { RecordHead } from './record-head.js';

/** Options of `openRank`. */
export interface RankOptions extends RingOptions {
  /** Where the files go; default: the working directory. Made when it is not there. */
  directory?: string;
  /** Begin of the files' names; default: the configuration's, then `dumpi`. */
  fileRoot?: string;
  /** The rank in the run, 0 to `size` - 1. Rank 0 writes the metafile. */
  rank: number;
  /** Ranks in the run, 1 to 2^31 - 1. */
  size: number;
  /** Default: the name of the machine. */
  hostname?: string;
  /** Default: `LOGNAME`, or `<none>` as libdumpi. */
  username?: string;
  /**
   * When rank 0 started, the same for all ranks: the names of the files say it to the second, in
   * local time. Default: now.
   */
  startTime?: Date;
  /**
   * The path of a dumpi.conf, or what it would say. Default: what libdumpi reads, the file that
   * `DUMPI_CONF` names or `dumpi.conf` in the working directory, if there is one.
   */
  config?: string | ConfigurationOptions;
  /** Whether records hold a thread, as libdumpi's always do. Default true. */
  threads?: boolean;
  /**
   * Whether `log` refuses a call that finds a request complete which it does not have: indices of
   * `MPI_Waitsome`, `MPI_Testsome`, `MPI_Waitany`, … that are out of range or occur twice. Default false: the
   * trace has what MPI returned, and `check` reports it.
   */
  checkIndices?: boolean;
  /**
   * Where the rank is in the machine's network, and how large that is in each dimension. Without
   * sizes the trace says 0 for each, as the format has it for a network of unknown size.
   */
  mesh?: { coordinates: readonly number[]; sizes?: readonly number[] };
  /**
   * Bytes of each datatype by handle; default: the predefined ones on a 64-bit machine. Those of
   * other datatypes are computed from the calls that make them.
   */
  datatypeSizes?: readonly number[];
  /**
   * Reads the counters that the configuration names into an array, in its order. It runs at every
   * `enter` and every `log`. Without it no counters are stored.
   */
  readCounters?: (values: BigInt64Array) => void;
  /**
   * Seconds of CLOCK_MONOTONIC, and of CPU time, from which the trace counts its seconds: from 2^26 s
   * (two years) ago to now, for each 65,536 s since then are annotated. Default: now.
   */
  wallBias?: number;
  cpuBias?: number;
}

/** Bytes of the predefined datatypes by handle, as an MPI of a 64-bit machine has them. */
const DATATYPE_SIZES: readonly number[] = [
  0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
];

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { getTime: timeOf } = Date.prototype;

const NS = 1e9;
/** How long ago a bias may be: 1,024 turns. */
const OLDEST_BIAS_SECONDS = 1024 * TURN_SECONDS;

/** Options of a rank with all defaults. */
export interface RankPlan {
  rank: number;
  size: number;
  /** Begin of the names of the run's files, absolute. */
  prefix: string;
  ringOptions: CheckedRingOptions;
  configuration: Configuration;
  head: RecordHead;
  counters: Counters | undefined;
  /** Sections for the end of the file; without keyvals so far. */
  sections: Omit<KeptSections, 'keyvals' | 'writer'>;
  /** Seconds from which the clocks count. */
  wallBias: number;
  cpuBias: number;
  checkIndices: boolean;
  /** CPU time of the thread rather than of the process. */
  threadCpu: boolean;
}

/** @throws TracewrightError for a text that the format cannot store. */
export function checkText(field: string, value: unknown): string {
  const text = ofType(field, value, 'string');
  checkSectionString(field, text);
  return text;
}

/**
 * A text of a line of its own in the metafile: the program's must be one line, the environment's is
 * made one that the format can store.
 */
function checkLine(field: string, given: unknown, ofEnvironment: string): string {
  if (given !== undefined) return oneLine(field, checkText(field, given));
  return ofEnvironment.replaceAll(LINE_ENDS, ' ').slice(0, MAX_STRING_BYTES / UTF8_BYTES_OF_UNIT);
}

function checkIntegers(field: string, values: unknown): readonly number[] {
  const taken = takeElements(field, values, MAX_SECTION_ELEMENTS, 'an array of integers');
  return taken.map((value, i) => integerIn(`${field}[${i}]`, value, -0x8000_0000, 0x7fff_ffff));
}

/** Bytes in UTF-8 of a unit of UTF-16, at most. */
const UTF8_BYTES_OF_UNIT = 3;

/** The body holds it in 32 bits, and the first record has an annotation for each turn since. */
function checkBias(field: string, bias: unknown, now: number): number {
  return integerIn(field, bias, Math.max(now - OLDEST_BIAS_SECONDS, -0x8000_0000), now);
}

function configurationOf(config: string | ConfigurationOptions | undefined): Configuration {
  if (config === undefined || typeof config === 'string') return loadConfiguration(config);
  return checkConfiguration(config);
}

/** A copy, which has no properties of its own. */
function checkStartTime(given: unknown): Date {
  if (!types.isDate(given)) throw wrongType('startTime', given, 'a valid Date');
  const startTime = new Date(timeOf.call(given));
  if (Number.isNaN(startTime.getTime())) throw wrongType('startTime', given, 'a valid Date');
  if (startTime.getTime() < 0) throw outOfRange('startTime', startTime, 'not before 1970');
  return startTime;
}

function checkMesh(
  mesh: RankOptions['mesh'] = { coordinates: [] },
): Pick<KeptSections, 'meshCoordinates' | 'meshSizes'> {
  mesh = ownOptions(mesh, ['coordinates', 'sizes'], 'mesh');
  const meshCoordinates = checkIntegers('mesh.coordinates', mesh.coordinates);
  const meshSizes =
    mesh.sizes === undefined
      ? meshCoordinates.map(() => 0)
      : checkIntegers('mesh.sizes', mesh.sizes);
  if (meshSizes.length !== meshCoordinates.length) {
    throw outOfRange(
      'mesh.sizes',
      meshSizes,
      `of ${meshCoordinates.length} elements, as coordinates`,
    );
  }
  return { meshCoordinates, meshSizes };
}

function checkPrefix(options: RankOptions, configuration: Configuration, startTime: Date): string {
  const { directory = '.', fileRoot = configuration.fileRoot } = options;
  if (typeof (fileRoot as unknown) !== 'string' || fileRoot === '' || fileRoot.includes('\0')) {
    throw wrongType('fileRoot', fileRoot, 'the beginning of a path, without NUL');
  }
  oneLine('fileRoot', fileRoot);
  if (typeof (directory as unknown) !== 'string' || directory === '') {
    throw wrongType('directory', directory, 'the path of a directory');
  }
  return resolve(directory, filePrefix(fileRoot, startTime));
}

/** @throws TracewrightError that names the option and what it may be. */
export function checkRankOptions(options: RankOptions): RankPlan {
  options = ownOptions(options, [
    ...RING_OPTIONS,
    'directory',
    'fileRoot',
    'rank',
    'size',
    'hostname',
    'username',
    'startTime',
    'config',
    'threads',
    'checkIndices',
    'mesh',
    'datatypeSizes',
    'readCounters',
    'wallBias',
    'cpuBias',
  ]);
  const size = integerIn('size', options.size, 1, 0x7fff_ffff);
  const rank = integerIn('rank', options.rank, 0, size - 1);
  const ringOptions = checkRingOptions(options, { onFull: 'block' });
  const configuration = configurationOf(options.config);
  const { threads = true, checkIndices = false, readCounters } = options;
  ofType('threads', threads, 'boolean');
  ofType('checkIndices', checkIndices, 'boolean');
  const startTime = checkStartTime(options.startTime ?? new Date());
  if (readCounters !== undefined) ofType('readCounters', readCounters, 'function');
  const counterLabels = readCounters === undefined ? [] : configuration.counters;
  const sections = {
    version: WRITTEN_VERSION,
    startTime: Math.floor(startTime.getTime() / 1000),
    ...checkMesh(options.mesh),
    hostname: checkLine('hostname', options.hostname, osHostname()),
    username: checkLine('username', options.username, process.env['LOGNAME'] ?? '<none>'),
    counterLabels,
    datatypeSizes: checkIntegers('datatypeSizes', options.datatypeSizes ?? DATATYPE_SIZES),
  };
  const threadCpu = !isMainThread;
  const wallNow = Number(readClock(ringOptions.clock) / 1_000_000_000n);
  const cpuNow = Math.floor(cpuTime(threadCpu) / NS);
  return {
    rank,
    size,
    ringOptions,
    configuration,
    checkIndices,
    head: recordHead(configuration, threads, counterLabels.length),
    counters:
      readCounters === undefined || counterLabels.length === 0
        ? undefined
        : new Counters(counterLabels, readCounters),
    sections,
    wallBias: checkBias('wallBias', options.wallBias ?? wallNow, wallNow),
    cpuBias: checkBias('cpuBias', options.cpuBias ?? cpuNow, cpuNow),
    threadCpu,
    prefix: checkPrefix(options, configuration, startTime),
  };
}
