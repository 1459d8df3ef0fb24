import { SERVER } from '../layout.js';
import type { Span } from '../span.js';
import type { KeepRules, SlowRule } from './keep-options.js';
import { DurationCounts } from './released-counts.js';
import { METHOD_ATTRIBUTE, ReleasedFigures, ROUTE_ATTRIBUTE, routeIn } from './released-figures.js';
import type { Figures, Numbering, OpenAttributes } from './released-figures.js';
import { kindOf, KIND_STRIDE, mapsOfKinds } from './span-flags.js';

/** Names that are told apart in a thread. */
const MOST_NAMES = 1000;
const OTHER = '(other)';
/** Requests of a route from which on its percentile says something, and after which it is looked up again. */
const LEAST_FOR_PERCENTILE = 100;
const LOOK_UP = 256;
const RECENT = 20_000;

/** Counts of the requests of one name and route in a thread. */
export class RequestCounts extends ReleasedFigures {
  declare readonly rule: SlowRule;
  /** Requests so far. */
  seen = 0;
  /** Whether another request of the name can have another route, which its attribute says. */
  declare readonly differsByAttribute: boolean;
  /** Name and route. */
  declare readonly label: string;
  readonly #recent: DurationCounts | undefined;
  readonly #stalls: number;
  #slowNs: number;

  /** @param stalls ns of a stall that matter: a request that took less has not had them. */
  constructor(
    figures: Figures,
    numbering: Numbering,
    differs: boolean,
    rule: SlowRule,
    stalls: number,
  ) {
    super(figures, numbering);
    this.differsByAttribute = differs;
    this.label = this.name.includes(this.route) ? this.name : `${this.name} ${this.route}`;
    this.rule = rule;
    this.#stalls = stalls;
    this.#slowNs = rule.ns;
    this.released.limit = Math.min(rule.ns, stalls);
    if (rule.percent > 0) this.#recent = new DurationCounts();
  }

  /** From how many nanoseconds on a request is slow. */
  get slowNs(): number {
    return this.#slowNs;
  }

  /** Whether all requests of the name are of these, and are slow by the same rule. */
  get areAlike(): boolean {
    return !this.differsByAttribute && this.#recent === undefined;
  }

  /** A request has ended. */
  see(duration: number): void {
    this.seen++;
    const recent = this.#recent;
    if (recent === undefined) return;
    recent.add(duration);
    if (this.seen % LOOK_UP !== 0 && this.seen !== LEAST_FOR_PERCENTILE) return;
    if (recent.count >= LEAST_FOR_PERCENTILE) {
      this.#slowNs = Math.min(this.rule.ns, recent.percentile(this.rule.percent));
      this.released.limit = Math.min(this.#slowNs, this.#stalls);
    }
    if (recent.count > RECENT) recent.halve();
  }
}

/** Names that came a short while ago are found by their lengths and kinds, without maps. A power of two. */
const RECENT_NAMES = 64;

/** The requests of a thread by their names and routes. */
export class AllRequests {
  readonly #rules: KeepRules;
  readonly #open: OpenAttributes;
  readonly #numbering: Numbering;
  /** By kind, by the name, then by the route that only the attribute says. */
  readonly #byName = mapsOfKinds<Map<string, RequestCounts>>();
  readonly #recent = new Array<RequestCounts | undefined>(RECENT_NAMES).fill(undefined);
  readonly #all: RequestCounts[] = [];
  #other: RequestCounts | undefined;

  constructor(rules: KeepRules, open: OpenAttributes, numbering: Numbering) {
    this.#rules = rules;
    this.#open = open;
    this.#numbering = numbering;
  }

  of(span: Span): RequestCounts {
    const { name } = span;
    const kind = kindOf(span.flags);
    const slot = (name.length + kind * KIND_STRIDE) & (RECENT_NAMES - 1);
    const recent = this.#recent[slot];
    if (recent?.kind === kind && recent.name === name) {
      if (!recent.differsByAttribute || recent.route === this.#attribute(span)) return recent;
    }
    return (this.#recent[slot] = this.#find(span));
  }

  /** The route that the attributes of a span say; empty: none. */
  #attribute(span: Span): string {
    return this.#open.textOf(span, ROUTE_ATTRIBUTE);
  }

  /** The method of a server of gRPC, which is the same for all requests of a name; empty: it is none. */
  #method(span: Span, kind: number): string {
    return kind === SERVER ? this.#open.textOf(span, METHOD_ATTRIBUTE) : '';
  }

  #find(span: Span): RequestCounts {
    const { name } = span;
    const kind = kindOf(span.flags);
    const named = routeIn(name) || this.#method(span, kind);
    const differs = named === '' && kind === SERVER;
    const attribute = differs ? this.#attribute(span) : '';
    const ofKind = this.#byName[kind]!;
    let ofName = ofKind.get(name);
    const known = ofName?.get(attribute);
    if (known !== undefined) return known;
    if (this.#all.length >= MOST_NAMES) return (this.#other ??= this.#addOther(kind));
    const route = differs ? attribute : named;
    const { routes, slow, stalls } = this.#rules;
    const rule = routes.get(route) ?? routes.get(name) ?? slow;
    const figures = { name, route, kind, attributes: this.#open.attributesOf(span) };
    const counts = new RequestCounts(figures, this.#numbering, differs, rule, stalls);
    this.#all.push(counts);
    if (ofName === undefined) ofKind.set(name, (ofName = new Map<string, RequestCounts>()));
    ofName.set(attribute, counts);
    return counts;
  }

  #addOther(kind: number): RequestCounts {
    const figures = { name: OTHER, route: '', kind, attributes: undefined };
    const { slow, stalls } = this.#rules;
    const other = new RequestCounts(figures, this.#numbering, false, slow, stalls);
    this.#all.push(other);
    return other;
  }

  get all(): readonly RequestCounts[] {
    return this.#all;
  }
}
