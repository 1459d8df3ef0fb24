import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { core } from '../core/addon.js';
import { holdingSignals } from '../core/signal-hold.js';
import type { CheckedSizeOptions } from '../core/size-limits.js';
import { compileMarks } from '../ovni/mark.js';
import type { MarkEmitters } from '../ovni/mark.js';
import { MAX_DEPTH } from '../ovni/mark-stacks.js';
import { currentProcess, procFini } from '../ovni/process.js';
import { thread, threadFree } from '../ovni/thread.js';
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
const DELETED = '.deleted';

function pathOf(directory: string, number: number): string {
  return join(directory, `${process.pid}.${String(number).padStart(DIGITS, '0')}`);
}

function numberOf(name: string): number {
  const match = /^(\d+)\.(\d{6,})$/.exec(name);
  return match !== null && Number(match[1]) === process.pid ? Number(match[2]) : 0;
}

/** Begins the next piece: the directory that the process shall write to. */
export function nextPiece(directory: string, begun: bigint): string {
  mkdirSync(directory, { recursive: true });
  const last = Math.max(0, ...readdirSync(directory).map(numberOf));
  const piece: Piece = { number: last + 1, begun };
  core.putNote(NOTE, JSON.stringify({ ...piece, begun: String(begun) }));
  return pathOf(directory, piece.number);
}

/** The piece that the process writes now. */
export function presentPiece(): Piece {
  const note = JSON.parse(core.getNote(NOTE)) as { number: number; begun: string };
  return { number: note.number, begun: BigInt(note.begun) };
}

interface Content {
  bytes: number;
  /** Whether a ring is left: somebody writes there, or a recovery has something to do. */
  hasRing: boolean;
}

function contentOf(directory: string): Content {
  const content: Content = { bytes: 0, hasRing: false };
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      const below = contentOf(path);
      content.bytes += below.bytes;
      content.hasRing ||= below.hasRing;
    } else if (entry.name.endsWith('.ring')) {
      content.hasRing = true;
    } else {
      content.bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    }
  }
  return content;
}

function bytesOfPieces(directory: string): number {
  return readdirSync(directory)
    .filter((name) => numberOf(name) > 0)
    .reduce((sum, name) => sum + contentOf(join(directory, name)).bytes, 0);
}

/** Removes a whole trace: it is out of sight at once, and gone a little later. */
function remove(path: string, directory: string, name: string): void {
  const hidden = join(directory, `.${name}${DELETED}`);
  renameSync(path, hidden);
  rmSync(hidden, { recursive: true, force: true });
}

/** Deletes the oldest pieces of the process until the others leave room for one more. */
function shrink(settings: PieceSettings): void {
  const { directory, maxBytes, rotateBytes } = settings;
  const present = presentPiece().number;
  const pieces = [];
  for (const name of readdirSync(directory)) {
    // What a process that was killed was about to remove.
    if (name.startsWith('.') && name.endsWith(DELETED)) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
    const number = numberOf(name);
    if (number > 0) pieces.push({ name, number, ...contentOf(join(directory, name)) });
  }
  pieces.sort((a, b) => a.number - b.number);
  let total = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, number, bytes, hasRing } of pieces) {
    if (total <= maxBytes - rotateBytes) return;
    if (hasRing || number >= present) continue;
    remove(join(directory, name), directory, name);
    total -= bytes;
  }
}

/** A value that is pushed. */
interface PushedMark {
  type: number;
  value: bigint;
}

/** The values that the thread's mark stacks hold, bottom first. */
function pushedMarks(): PushedMark[] {
  const { depths, pushed } = thread.markStacks;
  return [...depths].flatMap((depth, type) =>
    Array.from({ length: depth }, (_, place) => {
      const at = 2 * (type * MAX_DEPTH + place);
      return { type, value: (BigInt(pushed[at + 1]!) << 32n) | BigInt(pushed[at]! >>> 0) };
    }),
  );
}

/**
 * Ends the stream of the calling thread and begins another in the present piece, as it was. Marks
 * for which a full disk has no room are owed, as those of the program are.
 */
function moveThread(begin: (piece: Piece) => void): void {
  const { attributes, required, marks, markStacks } = thread;
  const before = {
    attributes,
    required: [...required],
    marks: [...marks],
    kinds: markStacks.kinds.slice(),
    pushed: pushedMarks(),
  };
  emitters ??= compileMarks(thread);
  for (const { type, value } of before.pushed.toReversed()) emitters.pop(type, value);
  threadFree();
  begin(presentPiece());
  thread.attributes = { ...before.attributes, ...thread.attributes };
  for (const [model, version] of before.required) thread.required.set(model, version);
  thread.marks.push(...before.marks);
  thread.markStacks.kinds.set(before.kinds);
  thread.writeMetadata();
  for (const { type, value } of before.pushed) emitters.push(type, value);
}

let emitters: MarkEmitters | undefined;

/** What a thread brings along when it moves to the next piece. */
export interface PieceTraveller {
  /**
   * Begins the process anew; only the thread that leads calls it.
   *
   * @param maxBytes after which recording stops; 0: none.
   */
  beginProcess: (traceDir: string, maxBytes: number) => void;
  /** Begins the stream of the calling thread. */
  beginThread: (piece: Piece) => void;
  /** Before the streams of the thread end. */
  leave: () => void;
  /** Once the thread's new stream has begun. */
  arrive: () => void;
}

/**
 * Takes the calling thread from piece to piece: now and then it looks whether the present one has
 * become too long (the thread that leads), or whether there is a new one.
 */
export function rotatePieces(
  settings: PieceSettings,
  leads: boolean,
  traveller: PieceTraveller,
): void {
  const timer = setInterval(() => {
    if (thread.process === undefined) return;
    try {
      holdingSignals(() => {
        if (leads) turnOver(settings, traveller);
        if (currentProcess()?.procDir === thread.process?.procDir) return;
        traveller.leave();
        moveThread(traveller.beginThread);
        traveller.arrive();
        if (leads && settings.maxBytes > 0 && settings.atMaxBytes === 'deleteOldest') {
          shrink(settings);
        }
      });
    } catch (error) {
      clearInterval(timer);
      warn(`the ovni trace does not go on to its next piece: ${reasonOf(error)}`);
    }
  }, CHECK_MS);
  timer.unref();
}

function turnOver(settings: PieceSettings, traveller: PieceTraveller): void {
  const current = currentProcess();
  if (current === undefined || current.finished) return;
  const { bytes, pendingBytes } = core.groupCounts(current.procDir);
  if (bytes + pendingBytes < settings.rotateBytes) return;
  let left = 0;
  if (settings.maxBytes > 0 && settings.atMaxBytes === 'stop') {
    // Some threads record in the piece that ends until their event loops turn.
    const late = settings.rotateBytes;
    left = settings.maxBytes - bytesOfPieces(settings.directory) - pendingBytes - late;
    // The present piece is the last: it stops by itself.
    if (left < 2 * settings.rotateBytes) return;
  }
  const traceDir = nextPiece(settings.directory, core.clockNow());
  mkdirSync(traceDir);
  procFini();
  traveller.beginProcess(traceDir, left);
}
