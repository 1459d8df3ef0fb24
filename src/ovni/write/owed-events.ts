import { MAX_DEPTH } from '../mark-stacks.js';
import type { MarkStacks } from '../mark-stacks.js';
import { stepsBetween } from '../thread-state.js';
import type { ThreadState } from '../thread-state.js';

/** A value in two halves, as in a mark's payload. */
type Halves = readonly [low: number, high: number];

/** Writes owed events to the stream; both functions return whether the event was written. */
interface OwedWriter {
  /** @param payload the arguments of an `OHx`. */
  state: (mcv: string, payload: Uint8Array | undefined) => boolean;
  mark: (mcv: 'OM[' | 'OM]' | 'OM=', type: number, low: number, high: number) => boolean;
}

/**
 * State events and marks that found no room. Unlike other events they cannot be dropped without making
 * later ones wrong. Once there is room, the stream gets the events that lead from its last state to the
 * thread's present state. Changes in between are lost.
 */
export class OwedEvents {
  /** Whether anything is owed. */
  any = false;
  /** The thread's state by the events in the stream. */
  #written: ThreadState = 'unknown';
  #owesState = false;
  /** Arguments of the last `OHx` that was not written. */
  #start: Uint8Array | undefined;
  /** By mark type: the values that are pushed in the stream, if they differ from the thread's. */
  readonly #stacks = new Map<number, Halves[]>();
  /** By mark type: the value that was set last, if it is not in the stream. */
  readonly #sets = new Map<number, Halves>();

  /** The thread's state by the events in the stream. */
  get written(): ThreadState {
    return this.#written;
  }

  clear(): void {
    this.any = false;
    this.#written = 'unknown';
    this.#owesState = false;
    this.#start = undefined;
    this.#stacks.clear();
    this.#sets.clear();
  }

  /** The stream has the thread in this state now. */
  stateWritten(state: ThreadState): void {
    this.#written = state;
  }

  /** @param start the arguments, if the event is an `OHx`. */
  oweState(start: Uint8Array | undefined): void {
    this.any = true;
    this.#owesState = true;
    if (start !== undefined) this.#start = start;
  }

  /** To be called before the push or pop changes `marks`. */
  oweStack(type: number, marks: MarkStacks): void {
    this.any = true;
    if (!this.#stacks.has(type)) this.#stacks.set(type, valuesOf(type, marks));
  }

  oweSet(type: number, low: number, high: number): void {
    this.any = true;
    this.#sets.set(type, [low, high]);
  }

  /**
   * Writes what is owed, as far as there is room.
   *
   * @param state the thread's present state.
   * @returns whether nothing is owed any more.
   */
  write(state: ThreadState, version: 1 | 3, marks: MarkStacks, writer: OwedWriter): boolean {
    if (this.#owesState) {
      for (const { mcv, to } of stepsBetween(this.#written, state, version)) {
        if (!writer.state(mcv, mcv === 'OHx' ? this.#start : undefined)) return false;
        this.#written = to;
      }
      this.#owesState = false;
      this.#start = undefined;
    }
    for (const [type, written] of this.#stacks) {
      if (!writeStack(type, written, valuesOf(type, marks), writer)) return false;
      this.#stacks.delete(type);
    }
    for (const [type, [low, high]] of this.#sets) {
      if (!writer.mark('OM=', type, low, high)) return false;
      this.#sets.delete(type);
    }
    this.any = false;
    return true;
  }
}

function valuesOf(type: number, { depths, pushed }: MarkStacks): Halves[] {
  return Array.from({ length: depths[type]! }, (_, depth) => {
    const at = 2 * (type * MAX_DEPTH + depth);
    return [pushed[at]!, pushed[at + 1]!];
  });
}

function same(a: Halves | undefined, b: Halves | undefined): boolean {
  return a !== undefined && b !== undefined && a[0] === b[0] && a[1] === b[1];
}

/** Pops values that the thread no longer has, and pushes those that the stream lacks; `written` follows. */
function writeStack(
  type: number,
  written: Halves[],
  wanted: readonly Halves[],
  writer: OwedWriter,
): boolean {
  let common = 0;
  while (same(written[common], wanted[common])) common++;
  while (written.length > common) {
    if (!writer.mark('OM]', type, ...written.at(-1)!)) return false;
    written.pop();
  }
  for (const value of wanted.slice(common)) {
    if (!writer.mark('OM[', type, ...value)) return false;
    written.push(value);
  }
  return true;
}
