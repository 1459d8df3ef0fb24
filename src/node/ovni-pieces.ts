import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clockNow } from '../core/clock.js';
import { getNote, putNote } from '../core/process-notes.js';
import { groupCounts } from '../core/ring/target-group.js';
import { makeDirectories } from '../core/files/make-directories.js';
import { holdingSignals } from '../core/signals.js';
import type { CheckedSizeOptions } from '../core/options/size-limits.js';
import { continueProcess, currentProcess } from '../ovni/write/process.js';
import type { OvniProcess } from '../ovni/write/process.js';
import { StreamWriter } from '../ovni/write/stream-writer.js';
import { thread } from '../ovni/write/thread.js';
import { contentOf, halfRemoved, removeTrace } from './trace-content.js';
import { reasonOf, warn } from './warning.js';

/**
 * The ovni traces of a process that rotates: `<run>/ovni/<pid>.000001`, `<pid>.000002` …, each a
 * trace directory that is complete in itself.
 */
export interface PieceSettings extends CheckedSizeOptions {
  /** The directory of all pieces. */
  directory: string;
}

/** What the threads of the process know of the present piece; Node's threads share no JavaScript. */
export interface Piece {
  number: number;
  /** Nanoseconds of CLOCK_MONOTONIC at which it began; later streams of it lead with this moment. */
  begun: bigint;
}

const NOTE = 'node.ovni-piece';
const DIGITS = 6;
/** Often enough that a piece is little longer than it should be, and no work to speak of. */
const CHECK_MS = 250;

function pathOf(directory: string, number: number): string {
  return join(directory, `${process.pid}.${String(number).padStart(DIGITS, '0')}`);
}

function numberOf(name: string): number {
  const match = /^(\d+)\.(\d{6,})$/.exec(name);
  return match !== null && Number(match[1]) === process.pid ? Number(match[2]) : 0;
}

function note({ number, begun }: Piece): void {
  putNote(NOTE, JSON.stringify({ number, begun: String(begun) }));
}

/** The number of the next piece; none is given twice, whatever becomes of the directory. */
function nextNumber(directory: string): number {
  makeDirectories(directory);
  const last = getNote(NOTE) === '' ? 0 : presentPiece().number;
  return 1 + Math.max(last, ...readdirSync(directory).map(numberOf));
}

/** The directory of the first piece that the process shall write. */
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
  const { directory, maxBytes, rotateBytes } = settings;
  const present = presentPiece().number;
  const pieces = [];
  for (const name of readdirSync(directory)) {
    // What a process that was killed was about to remove.
    if (halfRemoved(name) !== undefined) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
    const number = numberOf(name);
    if (number > 0) pieces.push({ name, number, ...contentOf(join(directory, name)) });
  }
  pieces.sort((a, b) => a.number - b.number);
  let total = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, number, bytes, rings } of pieces) {
    if (total <= maxBytes - rotateBytes) return;
    if (rings.length > 0 || number >= present) continue;
    removeTrace(join(directory, name));
    total -= bytes;
  }
}

/** What a thread brings along when it moves to the next piece. */
export interface PieceTraveller {
  /** Writes the first events of the thread's stream in the piece that began at `begun`. */
  begin: (stream: StreamWriter, begun: bigint) => void;
  /** Before the streams of the thread end; its next one has begun. */
  leave: () => void;
  /** Once the thread is in the piece that began at `begun`. */
  arrive: (begun: bigint) => void;
}

/**
 * Takes the calling thread from piece to piece: now and then it looks whether the present one has
 * become too long (the thread that leads), or whether there is a new one. A thread leaves a piece
 * only once its stream in the next has begun; until it can begin there it stays, and tries again.
 */
export function rotatePieces(
  settings: PieceSettings,
  leads: boolean,
  traveller: PieceTraveller,
): void {
  const thisThread = new Traveller(traveller);
  const lead = leads ? new Leader(settings, thisThread) : undefined;
  const timer = setInterval(() => {
    if (thread.process === undefined) return;
    thisThread.attempt(STAYS, () => {
      holdingSignals(() => {
        lead?.turnOver();
        thisThread.follow();
      });
    });
  }, CHECK_MS);
  timer.unref();
}

const STAYS = 'does not go on to its next piece, which is tried again';
const INCOMPLETE = 'has a piece that is not complete';

class Traveller {
  readonly #traveller: PieceTraveller;
  /** What the service was told. */
  readonly #told = new Set<string>();

  constructor(traveller: PieceTraveller) {
    this.#traveller = traveller;
  }

  /** Takes a step that may fail; the service is told once. */
  attempt(failure: string, step: () => void): void {
    try {
      step();
    } catch (error) {
      if (this.#told.has(failure)) return;
      this.#told.add(failure);
      warn(`the ovni trace ${failure}: ${reasonOf(error)}`);
    }
  }

  /** Goes where the thread that leads has gone. */
  follow(): void {
    const process = currentProcess();
    if (process === undefined || process.procDir === thread.process?.procDir) return;
    const { begun } = presentPiece();
    this.goOn(this.begin(process, begun), begun);
  }

  /** The stream of the thread in the next piece, begun. */
  begin(process: OvniProcess, begun: bigint): StreamWriter {
    const next = new StreamWriter();
    next.open(process, undefined, thread);
    try {
      this.#traveller.begin(next, begun);
    } catch (error) {
      next.close();
      throw error;
    }
    return next;
  }

  /** Leaves the present piece; there is no way back, so what goes wrong is told and no more. */
  goOn(next: StreamWriter, begun: bigint): void {
    this.attempt(INCOMPLETE, () => {
      this.#traveller.leave();
    });
    thread.exchangeFiles(next);
    this.attempt(INCOMPLETE, () => {
      if (next.process !== undefined) next.process = { ...next.process, finished: true };
      next.close();
    });
    this.#traveller.arrive(begun);
    this.#told.delete(STAYS);
  }
}

/** The thread that says when the process goes on to its next piece. */
class Leader {
  readonly #settings: PieceSettings;
  readonly #thread: Traveller;
  /** Bytes of events that the process had recorded when the present piece began. */
  #before = 0;

  constructor(settings: PieceSettings, traveller: Traveller) {
    this.#settings = settings;
    this.#thread = traveller;
  }

  turnOver(): void {
    const present = currentProcess();
    if (present === undefined || present.finished) return;
    const { bytes, pendingBytes } = groupCounts(present.group);
    const recorded = bytes + pendingBytes;
    if (!this.#isDue(recorded) && !isGone(present.workDir)) return;
    const { directory, maxBytes, atMaxBytes } = this.#settings;
    if (maxBytes > 0 && atMaxBytes === 'deleteOldest') {
      this.#thread.attempt('keeps more than its budget', () => {
        shrink(this.#settings);
      });
    }
    const begun = clockNow();
    const number = nextNumber(directory);
    const path = pathOf(directory, number);
    mkdirSync(path);
    let next: StreamWriter | undefined;
    try {
      continueProcess(path, (process) => {
        next = this.#thread.begin(process, begun);
        note({ number, begun });
      });
    } catch (error) {
      this.#thread.attempt('leaves a piece that has not begun', () => {
        removeTrace(path);
      });
      throw error;
    }
    this.#before = recorded;
    this.#thread.goOn(next!, begun);
  }

  #isDue(recorded: number): boolean {
    const { maxBytes, rotateBytes, atMaxBytes } = this.#settings;
    if (recorded - this.#before < rotateBytes) return false;
    // The last piece of a budget is the one that stops by itself.
    return !(maxBytes > 0 && atMaxBytes === 'stop') || maxBytes - recorded >= 2 * rotateBytes;
  }
}

/** Whether somebody has removed a directory; one that may not be looked at may well be there. */
function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
