import { SERVER } from '../layout.js';
import type { Span } from '../span.js';
import type { KeepRules, SlowRule } from './keep-options.js';
import { DurationCounts } from './released-counts.js';
import { METHOD_ATTRIBUTE, ReleasedFigures, ROUTE_ATTRIBUTE, routeIn } from './released-figures.js';
import type { AttributesOf, Figures, Numbering } from './released-figures.js';
import { kindOf, KIND_STRIDE, mapsOfKinds } from './span-flags.js';

/** Names that are told apart in a thread. */
const MOST_NAMES = 1000;
const OTHER = '(other)';
/** Requests of a route from which on its percentile says something, and after which it is looked up again. */
const LEAST_FOR_PERCENTILE = 100;
const LOOK_UP = 256;
const RECENT = 20_000;

/** What is known of the requests of one name and route in a thread. */
export class RequestCounts extends ReleasedFigures {
  declare readonly rule: SlowRule;
  /** Requests so far. */
  seen = 0;
  /** The name, and what is added to it at the end. */
  declare readonly given: string;
  declare readonly added: string;
  /** Whether another request of the name can have another route, which its attribute says. */
  declare readonly differsByAttribute: boolean;
  /** Name and route. */
  declare readonly label: string;
  readonly #recent: DurationCounts | undefined;
  #slowNs: number;

  constructor(
    figures: Figures,
    numbering: Numbering,
    given: string,
    added: string,
    differs: boolean,
    rule: SlowRule,
  ) {
    super(figures, numbering);
    this.given = given;
    this.added = added;
    this.differsByAttribute = differs;
    this.label = this.name.includes(this.route) ? this.name : `${this.name} ${this.route}`;
    this.rule = rule;
    this.#slowNs = this.released.limit = rule.ns;
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
      this.released.limit = this.#slowNs;
    }
    if (recent.count > RECENT) recent.halve();
  }
}

/** Names that came a short while ago are found by their lengths and kinds, without maps. A power of two. */
const RECENT_NAMES = 64;

/** The requests of a thread by their names and routes. */
export class AllRequests {
  readonly #rules: KeepRules;
  readonly #attributesOf: AttributesOf;
  readonly #numbering: Numbering;
  /** By kind, by the name, then by what is added to it at the end, or by the route that only the attribute says. */
  readonly #byName = mapsOfKinds<Map<string, RequestCounts>>();
  readonly #recent = new Array<RequestCounts | undefined>(RECENT_NAMES).fill(undefined);
  readonly #all: RequestCounts[] = [];
  #other: RequestCounts | undefined;

  constructor(rules: KeepRules, attributesOf: AttributesOf, numbering: Numbering) {
    this.#rules = rules;
    this.#attributesOf = attributesOf;
    this.#numbering = numbering;
  }

  /** @param added to the name of the span, after a space, and its route; empty: nothing. */
  of(span: Span, added: string): RequestCounts {
    const { name } = span;
    const kind = kindOf(span.flags);
    const slot = (name.length + added.length + kind * KIND_STRIDE) & (RECENT_NAMES - 1);
    const recent = this.#recent[slot];
    if (recent?.kind === kind && recent.given === name && recent.added === added) {
      if (!recent.differsByAttribute || recent.route === this.#attribute(span)) return recent;
    }
    return (this.#recent[slot] = this.#find(span, added));
  }

  /** The route that the attributes of a span say; empty: none. */
  #attribute(span: Span): string {
    // Most have none, and are not read.
    if (span.heldNames?.has(ROUTE_ATTRIBUTE) === false) return '';
    const route = this.#attributesOf(span)?.[ROUTE_ATTRIBUTE];
    return typeof route === 'string' ? route : '';
  }

  /** The method of a server of gRPC, which is the same for all requests of a name; empty: it is none. */
  #method(span: Span, kind: number): string {
    const method = kind === SERVER ? this.#attributesOf(span)?.[METHOD_ATTRIBUTE] : undefined;
    return typeof method === 'string' ? method : '';
  }

  #find(span: Span, added: string): RequestCounts {
    const { name } = span;
    const kind = kindOf(span.flags);
    const named = added === '' ? routeIn(name) || this.#method(span, kind) : added;
    const differs = named === '' && kind === SERVER;
    const attribute = differs ? this.#attribute(span) : '';
    // Nothing that is added to a name begins with it.
    const key = attribute === '' ? added : `\n${attribute}`;
    const ofKind = this.#byName[kind]!;
    let ofName = ofKind.get(name);
    const known = ofName?.get(key);
    if (known !== undefined) return known;
    if (this.#all.length >= MOST_NAMES) return (this.#other ??= this.#addOther(kind));
    const whole = added === '' ? name : `${name} ${added}`;
    const route = differs ? attribute : named;
    const { routes, slow } = this.#rules;
    const rule = routes.get(route) ?? routes.get(whole) ?? slow;
    const own = this.#attributesOf(span);
    const attributes = added === '' ? own : { ...own, [ROUTE_ATTRIBUTE]: added };
    const figures = { name: whole, route, kind, attributes };
    const counts = new RequestCounts(figures, this.#numbering, name, added, differs, rule);
    this.#all.push(counts);
    if (ofName === undefined) ofKind.set(name, (ofName = new Map<string, RequestCounts>()));
    ofName.set(key, counts);
    return counts;
  }

  #addOther(kind: number): RequestCounts {
    const figures = { name: OTHER, route: '', kind, attributes: undefined };
    const other = new RequestCounts(figures, this.#numbering, OTHER, '', false, this.#rules.slow);
    this.#all.push(other);
    return other;
  }

  get all(): readonly RequestCounts[] {
    return this.#all;
  }
}
