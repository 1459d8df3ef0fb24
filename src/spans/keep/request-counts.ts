import type { KeepRules, SlowRule } from './keep-options.js';
import { DurationCounts } from './released-counts.js';
import { ReleasedFigures } from './released-figures.js';

/** Names that are told apart in a thread. */
const MOST_NAMES = 1000;
const OTHER = '(other)';
/** Requests of a route from which on its percentile says something, and after which it is looked up again. */
const LEAST_FOR_PERCENTILE = 100;
const LOOK_UP = 256;
const RECENT = 20_000;

/** What is known of the requests of one name in a thread. */
export class RequestCounts extends ReleasedFigures {
  declare readonly rule: SlowRule;
  /** Requests so far. */
  seen = 0;
  /** From how many nanoseconds on a request is slow. */
  declare slowNs: number;
  /** The name, and what is added to it at the end. */
  declare readonly given: string;
  declare readonly added: string;
  readonly #recent: DurationCounts | undefined;

  constructor(given: string, added: string, route: string, kind: number, rule: SlowRule) {
    super(added === '' ? given : `${given} ${added}`, route, kind);
    this.given = given;
    this.added = added;
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
}

/** Names that came a short while ago are found by their lengths, without maps. A power of two. */
const RECENT_NAMES = 64;

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
  readonly #recent = new Array<RequestCounts | undefined>(RECENT_NAMES).fill(undefined);
  readonly #all: RequestCounts[] = [];
  #other: RequestCounts | undefined;

  constructor(rules: KeepRules) {
    this.#rules = rules;
  }

  /** @param added to the name, after a space; empty: nothing. */
  of(name: string, added: string, kind: number): RequestCounts {
    const slot = (name.length + added.length) & (RECENT_NAMES - 1);
    const recent = this.#recent[slot];
    if (recent !== undefined && recent.given === name && recent.added === added) return recent;
    const found = this.#byName.get(name)?.get(added) ?? this.#add(name, added, kind);
    return (this.#recent[slot] = found);
  }

  #add(name: string, added: string, kind: number): RequestCounts {
    if (this.#all.length >= MOST_NAMES) {
      if (this.#other === undefined) {
        this.#other = new RequestCounts(OTHER, '', '', kind, this.#rules.slow);
        this.#all.push(this.#other);
      }
      return this.#other;
    }
    const whole = added === '' ? name : `${name} ${added}`;
    const route = added === '' ? routeIn(name) : added;
    const { routes, slow } = this.#rules;
    const rule = routes.get(route) ?? routes.get(whole) ?? slow;
    const counts = new RequestCounts(name, added, route, kind, rule);
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
