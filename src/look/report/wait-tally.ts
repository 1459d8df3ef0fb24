import type { WaitedFor } from './report-shape.js';
import type { TreeSpan } from './span-family.js';

/** Names by which it is reported. */
const MOST_NAMES = 5;

/** Sums the time of critical paths by what took it. */
export class WaitTally {
  readonly #byName = new Map<string, WaitedFor>();
  #all = 0;

  /**
   * @param waited what each span took of the critical path.
   * @param top the span that waited.
   * @param weight how often it counts: more than once if it is a sample of many.
   */
  add(spans: readonly TreeSpan[], waited: Float64Array, top: number, weight = 1): void {
    for (const [at, { kind, name, system, target, service }] of spans.entries()) {
      const time = weight * waited[at]!;
      if (time === 0) continue;
      const isItself = at === top;
      const key = isItself ? '' : [kind, service, system, target, name].join('\n');
      const entry = this.#byName.get(key);
      this.#all += time;
      if (entry !== undefined) entry.time += time;
      else this.#byName.set(key, { kind, name, system, target, service, isItself, time, share: 0 });
    }
  }

  /** The longest first. */
  get longest(): WaitedFor[] {
    const sorted = [...this.#byName.values()].sort((a, b) => b.time - a.time);
    return sorted
      .slice(0, MOST_NAMES)
      .map((entry) => ({ ...entry, share: entry.time / this.#all }));
  }
}
