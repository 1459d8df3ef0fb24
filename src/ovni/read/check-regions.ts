import {
  MAX_REGION_DEPTH,
  firstProgress,
  nestsInItself,
  regionChangeOf,
} from '../model-regions.js';
import type { RegionChange } from '../model-regions.js';

type Report = (message: () => string) => void;

/** The regions and progress states of one thread, in all models. */
export class ThreadRegions {
  readonly #stacks = new Map<string, string[]>();
  readonly #progress = new Map<string, string>();

  /** Follows an event. `report` is called if the emulator would refuse it. */
  event(code: number, report: Report): void {
    const change = regionChangeOf(code);
    if (change === undefined) return;
    if (change.action === 'set') this.#set(change, report);
    else this.#stack(change, report);
  }

  /** The stacks that are not empty, from the bottom up: name and beginnings. */
  *left(): Generator<[string, readonly string[]]> {
    for (const [name, stack] of this.#stacks) if (stack.length > 0) yield [name, stack];
  }

  #set({ mcv, model, state }: RegionChange, report: Report): void {
    if ((this.#progress.get(model) ?? firstProgress(model)) === state) {
      report(() => `${mcv} although this is the progress state of ${model} already`);
    }
    this.#progress.set(model, state);
  }

  #stack({ mcv, model, channel, action, state }: RegionChange, report: Report): void {
    const name = `${model} ${channel}s`;
    let stack = this.#stacks.get(name);
    if (stack === undefined) this.#stacks.set(name, (stack = []));
    const top = stack.at(-1);
    if (action === 'push') {
      if (top === state && !nestsInItself(model)) {
        report(() => `${mcv} directly in the same ${channel}`);
      } else if (stack.length === MAX_REGION_DEPTH) {
        report(() => `${mcv} in ${MAX_REGION_DEPTH} ${name}, the most that the emulator keeps`);
        return;
      }
      stack.push(state);
      return;
    }
    if (top === state) {
      stack.pop();
      return;
    }
    report(() =>
      top === undefined
        ? `${mcv} without ${state} before it`
        : `${mcv} ends ${state}, but the thread is in ${top}`,
    );
    // One missing end is one finding.
    const at = stack.lastIndexOf(state);
    if (at !== -1) stack.length = at;
  }
}
