import { enlarged } from '../../rows/row-columns.js';
import { IdTable } from './id-table.js';

/** Spans whose parent has not been found yet, at most. */
const MAX_PENDING = 1 << 22;
/** Connections, at most. */
const MAX_FLOWS = 1 << 22;

/** A list of numbers that grows. */
class Numbers {
  #array = new Uint32Array(1 << 10);
  length = 0;

  push(value: number): void {
    if (this.length === this.#array.length) this.#array = enlarged(this.#array);
    this.#array[this.length++] = value;
  }

  at(index: number): number {
    return this.#array[index]!;
  }

  set(index: number, value: number): void {
    this.#array[index] = value;
  }
}

/**
 * Finds the spans whose parent is in another thread or process, and is in the recording, so that a
 * connection always has both ends. Memory grows with the spans whose parent is still to come, and with
 * the connections.
 */
export class SpanFlows {
  /** By id of the parent: children that wait for it. */
  readonly #pending = new IdTable();
  readonly #childHigh = new Numbers();
  readonly #childLow = new Numbers();
  readonly #childThread = new Numbers();
  readonly #unused: number[] = [];
  /** By id of the parent: connections. By id of the child: the same. */
  readonly #byParent = new IdTable();
  readonly #byChild = new IdTable();
  readonly #flowHigh = new Numbers();
  readonly #flowLow = new Numbers();
  /** Spans that were not connected, because there were too many. */
  left = 0;

  get isEmpty(): boolean {
    return this.#flowHigh.length === 0;
  }

  /** Whether a second look at all spans could find parents. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** A span of a thread; a parent of zeros is none. */
  note(thread: number, high: number, low: number, parentHigh: number, parentLow: number): void {
    this.noteParent(thread, high, low);
    if ((parentHigh | parentLow) === 0 || (high | low) === 0) return;
    if (this.#pending.size >= MAX_PENDING) {
      this.left++;
      return;
    }
    let index = this.#unused.pop();
    if (index === undefined) {
      index = this.#childHigh.length;
      this.#childHigh.push(high);
      this.#childLow.push(low);
      this.#childThread.push(thread);
    } else {
      this.#childHigh.set(index, high);
      this.#childLow.set(index, low);
      this.#childThread.set(index, thread);
    }
    this.#pending.add(parentHigh, parentLow, index);
  }

  /** Only asks whether the span is the parent of one that waits. */
  noteParent(thread: number, high: number, low: number): void {
    this.#pending.remove(high, low, (index) => {
      this.#unused.push(index);
      if (this.#childThread.at(index) === thread) return;
      if (this.#flowHigh.length >= MAX_FLOWS) {
        this.left++;
        return;
      }
      const [childHigh, childLow] = [this.#childHigh.at(index), this.#childLow.at(index)];
      const flow = this.#flowHigh.length;
      this.#flowHigh.push(childHigh);
      this.#flowLow.push(childLow);
      this.#byParent.add(high, low, flow);
      if (!this.#byChild.has(childHigh, childLow)) this.#byChild.add(childHigh, childLow, flow);
    });
  }

  /**
   * Calls with the number of each connection of a span, which is the id of the child. Those of a parent
   * are given once: of spans that share an id by mistake, the first one has them.
   */
  takeOfSpan(high: number, low: number, call: (high: number, low: number) => void): void {
    const given = (flow: number): void => {
      call(this.#flowHigh.at(flow), this.#flowLow.at(flow));
    };
    this.#byChild.forEach(high, low, given);
    this.#byParent.remove(high, low, given);
  }
}
