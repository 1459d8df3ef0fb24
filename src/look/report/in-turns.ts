/** Time for which a report keeps the event loop, in ms. */
const TURN_MS = 10;

/** Work that can be interrupted at each `yield`. */
export type Steps<T> = Generator<undefined, T>;

/** Lets others use the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Does work in turns of the event loop, so that a server answers other questions meanwhile. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  let until = performance.now() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + TURN_MS;
  }
}
