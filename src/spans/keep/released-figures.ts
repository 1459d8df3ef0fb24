import type { SpanAttributes } from '../attributes.js';
import { attributesOfNames } from '../redaction/redaction.js';
import type { Redactor } from '../redaction/redaction.js';
import type { Span } from '../span.js';
import { DurationCounts } from './released-counts.js';

export const ROUTE_ATTRIBUTE = 'http.route';
/** The attribute that a server of gRPC has for a route. */
export const METHOD_ATTRIBUTE = 'rpc.method';

/** Reads the attributes of an open span, which stays as it is. */
export interface OpenAttributes {
  attributesOf(span: Span): SpanAttributes | undefined;
  /** One that is a text; empty: it is none, or absent. */
  textOf(span: Span, name: string): string;
}

/** Of which spans figures are. */
export interface Figures {
  name: string;
  /** Empty: there is none. */
  route: string;
  /** Its number in the layout. */
  kind: number;
  /** Those of the first span. */
  attributes: SpanAttributes | undefined;
}

/** The part of a request's name that is its route, or empty. */
export function routeIn(name: string): string {
  const space = name.indexOf(' ');
  return space !== -1 && name.charAt(space + 1) === '/' ? name.slice(space + 1) : '';
}

/** Gives counts of durations the number by which native code adds to them. */
export interface Numbering {
  numberOf(counts: Uint8Array): number;
}

/** Counts of the spans of one name that were not kept, since the last record. */
export class ReleasedFigures {
  declare readonly name: string;
  declare readonly route: string;
  declare readonly kind: number;
  /** By which native code counts its spans; above 0. */
  declare readonly number: number;
  /** How many the limit has released: there was a reason to keep them. */
  limited = 0;
  readonly released = new DurationCounts();
  /** By which a redaction of the name goes. */
  readonly #attributes: SpanAttributes | undefined;
  /** The redactor by which name and route were last changed for the record. */
  #redactor: Redactor | undefined;
  #redacted: readonly [name: string, route: string] | undefined;

  constructor({ name, route, kind, attributes }: Figures, numbering: Numbering) {
    this.number = numbering.numberOf(this.released.bytes);
    this.name = name;
    this.route = route;
    this.kind = kind;
    const method = attributes?.[METHOD_ATTRIBUTE];
    const named = attributesOfNames(attributes);
    this.#attributes = method === undefined ? named : { ...named, [METHOD_ATTRIBUTE]: method };
  }

  /** Name and route as they are recorded. */
  recordedBy(redactor: Redactor | undefined): readonly [name: string, route: string] {
    if (redactor === undefined) return [this.name, this.route];
    if (this.#redacted === undefined || this.#redactor !== redactor) {
      this.#redactor = redactor;
      this.#redacted = this.#redactedBy(redactor);
    }
    return this.#redacted;
  }

  #redactedBy(redactor: Redactor): readonly [name: string, route: string] {
    const name = redactor.name(this.name, this.#attributes);
    if (this.route === '') return [name, ''];
    // Without the attribute it is a part of the name.
    const attribute = [ROUTE_ATTRIBUTE, METHOD_ATTRIBUTE].find(
      (each) => this.#attributes?.[each] === this.route,
    );
    return [name, attribute === undefined ? routeIn(name) : redactor.text(attribute, this.route)];
  }

  /** @param duration nanoseconds. */
  release(duration: number, failed: boolean): void {
    this.released.add(duration);
    if (failed) this.released.addError();
  }
}
