// The formats in which one ring alone feeds a file: how a thread writes numbered records to pieces of a
// series, and how they are read. None of them rotates: in DUMPI and Laplace each thread closes its file and opens one
// in the next directory, and a trace of ovni is one piece.

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as dumpiPackage from 'tracewright/dumpi';
import * as laplacePackage from 'tracewright/laplace';
import * as ovniPackage from 'tracewright/ovni';

/**
 * @typedef {object} Thread what a thread writes with.
 * @property {number} piece in which it begins.
 * @property {(n: number) => void} write a record with this number.
 * @property {(isDue: boolean) => number | undefined} next moves to the next piece if it is time, and returns
 *   its number.
 * @property {() => void} end
 *
 * @typedef {object} OwnFileFormat
 * @property {(directory: string, thread: number, ringBytes: number) => Thread} begin
 * @property {string} module of the package that shows traces as their rings complete them.
 * @property {(piece: string) => string[]} streamsIn files that exist.
 * @property {(path: string) => Iterable<number>} numbers of the records, in their order.
 * @property {(piece: string) => { faults: unknown[] }[]} recover
 */

const PIECE_DIGITS = 6;

export function pieceAt(directory, number) {
  return join(directory, `1.${String(number).padStart(PIECE_DIGITS, '0')}`);
}

export function piecesIn(directory) {
  return readdirSync(directory)
    .filter((name) => name.startsWith('1.'))
    .sort()
    .map((name) => join(directory, name));
}

export const numberOf = (piece) => Number(piece.slice(-PIECE_DIGITS));

/** Numbers of a thread's records begin with this many for each thread before it. */
export const OF_THREAD = 2 ** 29;

/** The directory of a piece, which any of the threads may make. */
function makePiece(directory, number) {
  const piece = pieceAt(directory, number);
  mkdirSync(piece, { recursive: true });
  return piece;
}

/** @param {1 | 3} version */
function ovni(version) {
  const { addCpu, event, procFini, procInit, readStream, threadFree, threadInit } = ovniPackage;
  const fileIn = (path) => (version === 3 ? join(path, 'stream.obs') : path);
  return {
    begin(directory, thread, ringBytes) {
      if (thread === 0) {
        procInit(1, 'node.1', 1, { version, ringBytes, traceDir: makePiece(directory, 1) });
      }
      threadInit();
      if (thread === 0) addCpu(0, 0);
      event('OHx')(-1, 1, 0);
      return {
        piece: 1,
        write: event('OB.(u32 n)'),
        next: () => undefined,
        end() {
          event('OHe')();
          threadFree();
          if (thread === 0) procFini();
        },
      };
    },
    module: 'ovni/read/view-trace',
    streamsIn(piece) {
      const process = join(piece, 'loom.node.1', 'proc.1');
      const names = existsSync(process) ? readdirSync(process) : [];
      const threads = names.filter((name) => name.startsWith('thread.'));
      return threads.map((name) => fileIn(join(process, name))).filter((path) => existsSync(path));
    },
    *numbers(path) {
      for (const { mcv, payload } of readStream(path, { version })) {
        if (mcv === 'OB.')
          yield new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
      }
    },
    recover: (piece) => [ovniPackage.recoverTrace(piece)],
  };
}

/** Formats whose threads have files of their own. */
function eachItsFile(open, fileIn, rest) {
  return {
    begin(directory, thread, ringBytes) {
      let number = 1;
      const openNext = () => open(makePiece(directory, number++), thread, ringBytes);
      let file = openNext();
      return {
        piece: 1,
        write: (n) => file.write(n),
        next(isDue) {
          if (!isDue) return undefined;
          file.close();
          file = openNext();
          return number - 1;
        },
        end: () => file.close(),
      };
    },
    streamsIn: (piece) =>
      [0, 1, 2].map((thread) => fileIn(piece, thread)).filter((path) => existsSync(path)),
    ...rest,
  };
}

const startTime = new Date(2026, 0, 1);

const dumpi = eachItsFile(
  (directory, thread, ringBytes) => {
    const config = { timestamps: 'wall' };
    const options = { directory, rank: thread, size: 3, startTime, ringBytes, config };
    const rank = dumpiPackage.openRank(options);
    return {
      write: (n) => rank.log('MPI_Send', { count: n, datatype: 5, dest: 0, tag: 7, comm: 2 }),
      close: () => rank.close(),
    };
  },
  (piece, thread) => join(piece, `dumpi-2026.01.01.00.00.00-000${thread}.bin`),
  {
    module: 'dumpi/read/view-trace',
    *numbers(path) {
      for (const { fields } of dumpiPackage.readCalls(path)) yield fields.count;
    },
    recover: (piece) => [dumpiPackage.recoverTrace(piece)],
  },
);

/** The forms of Laplace: each thread writes one. */
const forms = ['binary', 'kernel', 'text'];
const laplaceFile = (piece, thread) => join(piece, `${thread}.${forms[thread]}`);
const { openKernelEvents, openReferences, readKernelEvents, readReferences } = laplacePackage;

const laplace = eachItsFile(
  (piece, thread, ringBytes) => {
    const path = laplaceFile(piece, thread);
    const form = forms[thread];
    if (form === 'kernel') {
      const trace = openKernelEvents(path, { ringBytes });
      return { write: (n) => trace.schedule(n, n), close: () => trace.close() };
    }
    const trace = openReferences(path, { form, ringBytes });
    return { write: (n) => trace.store(n, 8, 1, n), close: () => trace.close() };
  },
  laplaceFile,
  {
    module: 'laplace/read/view-trace',
    *numbers(path) {
      const form = forms.find((each) => path.endsWith(each));
      if (form === 'kernel') {
        for (const { kind, timestamp } of readKernelEvents(path)) {
          if (kind === 'schedule') yield Number(timestamp);
        }
      } else {
        for (const { address } of readReferences(path, { form })) yield address;
      }
    },
    recover: (piece) =>
      forms.map((_, thread) => laplacePackage.recoverTrace(laplaceFile(piece, thread))),
  },
);

/** @type {Record<string, OwnFileFormat>} */
export const ownFileFormats = { 'ovni 1': ovni(1), 'ovni 3': ovni(3), dumpi, laplace };

/** Recovers each piece in a directory. */
export function recoverPieces(name, directory) {
  return piecesIn(directory).flatMap((piece) => ownFileFormats[name].recover(piece));
}
