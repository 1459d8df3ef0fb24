import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clockNow } from '../../core/clock.js';
import { checkFileMode, directoryMode } from '../../core/options/file-mode.js';
import { getNote, putNote } from '../../core/process-notes.js';
import { anchoredPath } from '../../core/files/anchor.js';
import { kindOf } from '../../core/files/file-kind.js';
import { makeDirectories } from '../../core/files/make-directories.js';
import type { CheckedSizeOptions } from '../../core/options/size-limits.js';
import { holdingSignals } from '../../core/signals.js';
import { pieceName, pieceOf } from '../../ovni/file-names.js';
import {
  followProcess,
  isRecording,
  moveProcess,
  recordedBytes,
  workDirectory,
} from '../../ovni/write/rotation.js';
import type { ThreadMove } from '../../ovni/write/rotation.js';
import type { StreamWriter } from '../../ovni/write/stream-writer.js';
import { threadIsReady } from '../../ovni/write/thread.js';
import { reasonOf, warn } from '../warning.js';

/**
 * The ovni traces of a process that rotates: `<run>/ovni/<pid>.000001`, `<pid>.000002` …, each a
 * complete trace directory.
 */
export interface PieceSettings extends CheckedSizeOptions {
  /** The directory of all pieces. */
  directory: string;
}

/** The present piece, which the native core keeps for all threads: they share no JavaScript. */
export interface Piece {
  number: number;
  /** Nanoseconds of CLOCK_MONOTONIC at which it began. Its later streams begin with an event of then. */
  begun: bigint;
}

const NOTE = 'node.ovni-piece';
/** A piece exceeds its limit by what a process records in this time. */
const CHECK_MS = 250;

function pathOf(directory: string, number: number): string {
  return join(directory, pieceName({ pid: process.pid, number }));
}

/** The number of a piece of this process; 0 for any other name. */
function numberOf(name: string): number {
  const piece = pieceOf(name);
  return piece?.pid === process.pid ? piece.number : 0;
}

function note({ number, begun }: Piece): void {
  putNote(NOTE, JSON.stringify({ number, begun: String(begun) }));
}

/** The names in the directory of the pieces, which may be held open. */
function namesOf(directory: string): string[] {
  return readdirSync(anchoredPath(`${directory}/.`));
}

/** The number of the next piece. No number is used twice, even if pieces or the directory are deleted. */
function nextNumber(directory: string): number {
  makeDirectories(directory, directoryMode(checkFileMode()));
  const last = getNote(NOTE) === '' ? 0 : presentPiece().number;
  return 1 + Math.max(last, ...namesOf(directory).map(numberOf));
}

/** The directory of the first piece of the process. */
export function firstPiece(directory: string, begun: bigint): string {
  const number = nextNumber(directory);
  note({ number, begun });
  return pathOf(directory, number);
}

/** The piece that the process writes now. */
export function presentPiece(): Piece {
  const note = JSON.parse(getNote(NOTE)) as { number: number; begun: string };
  return { number: note.number, begun: BigInt(note.begun) };
}

/** Deletes the oldest pieces of the process until the others leave room for one more. */
function shrink(settings: PieceSettings): void {
  const { contentOf, halfRemoved, removeTrace } =
    require('../run/trace-content.js') as typeof import('../run/trace-content.js');
  const { directory, maxBytes, rotateBytes } = settings;
  const present = presentPiece().number;
  const pieces = [];
  for (const name of namesOf(directory)) {
    // A killed process was removing it.
    if (halfRemoved(name) !== undefined) {
      rmSync(anchoredPath(join(directory, name)), { recursive: true, force: true });
    }
    const number = numberOf(name);
    if (number > 0) pieces.push({ name, number, ...contentOf(join(directory, name)) });
  }
  pieces.sort((a, b) => a.number - b.number);
  let total = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, number, bytes, rings, isHidden } of pieces) {
    if (total <= maxBytes - rotateBytes) return;
    // A thread may be in it still.
    if (rings.length > 0 || isHidden || number >= present) continue;
    removeTrace(join(directory, name));
    total -= bytes;
  }
}

/** What a thread does when it moves to the next piece. */
interface PieceObserver {
  /** Writes the first events of the thread's stream in the piece that began at `begun`. */
  begin: (stream: StreamWriter, begun: bigint) => void;
  /** Before the streams of the thread end; its next one has begun. */
  leave: () => void;
  /** After the thread has moved to the piece that began at `begun`. */
  arrive: (begun: bigint) => void;
}

/**
 * Takes the calling thread from piece to piece. From time to time it checks whether the present piece
 * is too long (the thread that leads), or whether there is a new one. A thread leaves a piece only
 * after its stream in the next has begun; until that works it stays, and tries again.
 */
export function rotatePieces(
  settings: PieceSettings,
  leads: boolean,
  observer: PieceObserver,
): void {
  const follower = new Follower(observer);
  const leader = leads ? new Leader(settings, follower) : undefined;
  const timer = setInterval(() => {
    if (!threadIsReady()) return;
    follower.warnOnce(STAYS, () => {
      holdingSignals(() => {
        leader?.rotateIfDue();
        follower.follow();
      });
    });
  }, CHECK_MS);
  timer.unref();
}

const STAYS = 'does not continue in its next piece; this is tried again';
const INCOMPLETE = 'has an incomplete piece';

/** Moves the calling thread to the piece to which the process has moved. */
class Follower {
  readonly #observer: PieceObserver;
  /** Failures of which the service has been warned. */
  readonly #warned = new Set<string>();

  constructor(observer: PieceObserver) {
    this.#observer = observer;
  }

  /** Runs a step that may fail, and warns of its first failure. */
  warnOnce(failure: string, step: () => void): void {
    try {
      step();
    } catch (error) {
      if (this.#warned.has(failure)) return;
      this.#warned.add(failure);
      warn(`the ovni trace ${failure}: ${reasonOf(error)}`);
    }
  }

  follow(): void {
    const { begun } = presentPiece();
    const move = followProcess((stream) => {
      this.begin(stream, begun);
    });
    if (move !== undefined) this.complete(move, begun);
  }

  begin(stream: StreamWriter, begun: bigint): void {
    this.#observer.begin(stream, begun);
  }

  /** Leaves the present piece. The thread cannot return, so failures are only reported. */
  complete(move: ThreadMove, begun: bigint): void {
    this.warnOnce(INCOMPLETE, () => {
      this.#observer.leave();
    });
    this.warnOnce(INCOMPLETE, () => {
      move.complete();
    });
    this.#observer.arrive(begun);
    this.#warned.delete(STAYS);
  }
}

/** The thread that decides when the process continues in its next piece. */
class Leader {
  readonly #settings: PieceSettings;
  readonly #thread: Follower;
  /** Bytes of events that the process had recorded when the present piece began. */
  #before = 0;

  constructor(settings: PieceSettings, thread: Follower) {
    this.#settings = settings;
    this.#thread = thread;
  }

  rotateIfDue(): void {
    if (!isRecording()) return;
    const recorded = recordedBytes();
    if (!this.#isDue(recorded) && !isGone(workDirectory())) return;
    const { directory, maxBytes, atMaxBytes } = this.#settings;
    if (maxBytes > 0 && atMaxBytes === 'deleteOldest') {
      this.#thread.warnOnce('keeps more than its budget', () => {
        shrink(this.#settings);
      });
    }
    const begun = clockNow();
    const number = nextNumber(directory);
    const path = pathOf(directory, number);
    mkdirSync(anchoredPath(path), { mode: directoryMode(checkFileMode()) });
    let move: ThreadMove;
    try {
      move = moveProcess(path, (stream) => {
        this.#thread.begin(stream, begun);
        note({ number, begun });
      });
    } catch (error) {
      this.#thread.warnOnce('keeps a piece that has not begun', () => {
        const { removeTrace } =
          require('../run/trace-content.js') as typeof import('../run/trace-content.js');
        removeTrace(path);
      });
      throw error;
    }
    this.#before = recorded;
    this.#thread.complete(move, begun);
  }

  #isDue(recorded: number): boolean {
    const { maxBytes, rotateBytes, atMaxBytes } = this.#settings;
    if (recorded - this.#before < rotateBytes) return false;
    // Recording stops in a budget's last piece, which therefore has no successor.
    return !(maxBytes > 0 && atMaxBytes === 'stop') || maxBytes - recorded >= 2 * rotateBytes;
  }
}

/** Whether a directory has been removed. One that cannot be examined may exist. */
function isGone(path: string): boolean {
  try {
    return kindOf(path) === undefined;
  } catch {
    return false;
  }
}
