import { bucketOf, DurationCounts } from './released-counts.js';
import type { KeepRules, SlowRule } from './keep-options.js';

/** Names that are told apart in a thread. */
const MOST_NAMES = 1000;
const OTHER = '(other)';
/** Requests of a route from which on its percentile says something, and after which it is looked up again. */
const LEAST_FOR_PERCENTILE = 100;
const LOOK_UP = 256;
const RECENT = 20_000;

/** What is known of the requests of one name in a thread. */
export class RequestCounts {
  readonly name: string;
  readonly route: string;
  readonly kind: number;
  readonly rule: SlowRule;
  /** Requests so far. */
  seen = 0;
  /** From how many nanoseconds on a request is slow. */
  slowNs: number;
  /** Since the last record: those that were not kept. */
  errors = 0;
  time = 0;
  readonly released = new DurationCounts();
  readonly #recent: DurationCounts | undefined;

  constructor(name: string, route: string, kind: number, rule: SlowRule) {
    this.name = name;
    this.route = route;
    this.kind = kind;
    this.rule = rule;
    this.slowNs = rule.ns;
    if (rule.percent > 0) this.#recent = new DurationCounts();
  }

  /** A request has ended. */
  see(duration: number): void {
    this.seen++;
    const recent = this.#recent;
    if (recent === undefined) return;
    recent.add(duration);
    if (this.seen % LOOK_UP !== 0 && this.seen !== LEAST_FOR_PERCENTILE) return;
    if (recent.count >= LEAST_FOR_PERCENTILE) {
      this.slowNs = Math.min(this.rule.ns, recent.percentile(this.rule.percent));
    }
    if (recent.count > RECENT) recent.halve();
  }

  /** It was not kept. */
  release(duration: number, failed: boolean): void {
    const { released } = this;
    released.counts[bucketOf(duration)]!++;
    released.count++;
    this.time += duration;
    if (failed) this.errors++;
  }

  clear(): void {
    this.errors = 0;
    this.time = 0;
    this.released.clear();
  }
}

/** The part of a request's name that is its route, or empty. */
function routeIn(name: string): string {
  const space = name.indexOf(' ');
  return space !== -1 && name.charAt(space + 1) === '/' ? name.slice(space + 1) : '';
}

/** The requests of a thread by their names. */
export class AllRequests {
  readonly #rules: KeepRules;
  /** By the name, then by what is added to it at the end. */
  readonly #byName = new Map<string, Map<string, RequestCounts>>();
  readonly #all: RequestCounts[] = [];
  #other: RequestCounts | undefined;

  constructor(rules: KeepRules) {
    this.#rules = rules;
  }

  /** @param added to the name, after a space; empty: nothing. */
  of(name: string, added: string, kind: number): RequestCounts {
    return this.#byName.get(name)?.get(added) ?? this.#add(name, added, kind);
  }

  #add(name: string, added: string, kind: number): RequestCounts {
    if (this.#all.length >= MOST_NAMES) {
      if (this.#other === undefined) {
        this.#other = new RequestCounts(OTHER, '', kind, this.#rules.slow);
        this.#all.push(this.#other);
      }
      return this.#other;
    }
    const whole = added === '' ? name : `${name} ${added}`;
    const route = added === '' ? routeIn(name) : added;
    const { routes, slow } = this.#rules;
    const rule = routes.get(route) ?? routes.get(whole) ?? slow;
    const counts = new RequestCounts(whole, route, kind, rule);
    this.#all.push(counts);
    let byAdded = this.#byName.get(name);
    if (byAdded === undefined) {
      byAdded = new Map<string, RequestCounts>();
      this.#byName.set(name, byAdded);
    }
    byAdded.set(added, counts);
    return counts;
  }

  /** Those of which requests were not kept since the last record. */
  *unrecorded(): Generator<RequestCounts, void> {
    for (const counts of this.#all) if (counts.released.count > 0) yield counts;
  }
}
