import { UNTIL } from '../../core/ring/waiting-ring.js';
import {
  RELEASED_BELOW,
  RELEASED_COUNT,
  RELEASED_DESCRIPTION,
  RELEASED_DURATIONS,
  RELEASED_ERRORS,
  RELEASED_KIND,
  RELEASED_LIMITED,
  RELEASED_NAME,
  RELEASED_RESOURCE,
  RELEASED_ROUTE,
  RELEASED_TIME,
} from '../layout.js';
import type { SpanOutput } from '../write/span-output.js';
import type { OperationCounts } from './operation-counts.js';
import type { ReleasedFigures } from './released-figures.js';
import type { AllRequests } from './request-counts.js';

/** Between two records. */
const INTERVAL_NS = 10e9;
const INTERVAL_MS = 10_000;

/** Records how many requests were released, and operations below them, every ten seconds in which some were. */
export class CountsRecord {
  readonly #output: SpanOutput;
  readonly #requests: AllRequests;
  readonly #operations: OperationCounts;
  /** When the next record is due, of what was counted since the last one; 0: nothing was. */
  readonly #times: Float64Array;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param times of which one becomes the time from which on a release has to be noted. */
  constructor(
    output: SpanOutput,
    requests: AllRequests,
    operations: OperationCounts,
    times: Float64Array,
  ) {
    this.#times = times;
    this.#output = output;
    this.#requests = requests;
    this.#operations = operations;
  }

  /** A request was released. */
  note(now: number): void {
    const next = this.#times[UNTIL]!;
    if (next === 0) this.#begin(now);
    else if (now >= next) this.write(now);
  }

  #begin(now: number): void {
    this.#since = now;
    this.#times[UNTIL] = now + INTERVAL_NS;
    this.#timer = setTimeout(() => {
      if (this.#times[UNTIL] !== 0) this.write(this.#output.timeOf(undefined));
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  write(now: number): void {
    this.stop();
    this.#times[UNTIL] = 0;
    for (const each of this.#requests.all) this.#write(each, now, false);
    for (const each of this.#operations.all) this.#write(each, now, true);
  }

  #write(figures: ReleasedFigures, now: number, isBelow: boolean): void {
    const released = figures.released.take();
    if (released === undefined) return;
    const { kind, limited } = figures;
    figures.limited = 0;
    const [name, route] = figures.recordedBy(this.#output.policy.redactor);
    this.#output.recordNote(
      RELEASED_DESCRIPTION,
      [
        [RELEASED_NAME, name],
        ...(route === '' ? [] : [[RELEASED_ROUTE, route] as const]),
        [RELEASED_KIND, kind],
        [RELEASED_RESOURCE, this.#output.resource],
        [RELEASED_COUNT, released.count],
        [RELEASED_ERRORS, released.errors],
        [RELEASED_TIME, Math.round(released.time)],
        [RELEASED_DURATIONS, released.text],
        ...(isBelow ? [[RELEASED_BELOW, 1] as const] : []),
        ...(limited > 0 ? [[RELEASED_LIMITED, limited] as const] : []),
      ],
      this.#since,
      now,
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
