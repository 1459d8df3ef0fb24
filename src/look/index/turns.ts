/** Time for which work keeps the event loop, in ms. */
const TURN_MS = 10;

/** Lets others use the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Long work in turns of the event loop, so that a server answers other questions meanwhile. */
export class Turns {
  #until = performance.now() + TURN_MS;

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** After the next turn of the event loop, if this one has lasted for long enough. */
  async next(): Promise<void> {
    if (!this.isOver) return;
    await nextTurn();
    this.#until = performance.now() + TURN_MS;
  }
}

/** Rows between two looks at the clock: some milliseconds. */
const PIECE = 1 << 18;

/** Pieces of rows, in turns. */
export async function* inPieces(
  from: number,
  to: number,
  turns = new Turns(),
): AsyncGenerator<readonly [first: number, end: number], void> {
  for (let first = from; first < to; first += PIECE) {
    yield [first, Math.min(to, first + PIECE)];
    await turns.next();
  }
}

/** Work that can be interrupted at each `yield`. */
export type Steps<T> = Generator<undefined, T>;

/** Does all steps of some work, in turns. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  const turns = new Turns();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    // A step may be short, and each `await` costs.
    if (turns.isOver) await turns.next();
  }
}
