import type { SpanAttributes } from '../attributes.js';
import { attributesOfNames } from '../redaction/redaction.js';
import type { Redactor } from '../redaction/redaction.js';
import type { Span } from '../span.js';
import { bucketOf, DurationCounts } from './released-counts.js';

export const ROUTE_ATTRIBUTE = 'http.route';

/** Reads the attributes of an open span, which stays as it is. */
export type AttributesOf = (span: Span) => SpanAttributes | undefined;

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

/** What remains of spans of one name that were not kept, since the last record. */
export class ReleasedFigures {
  declare readonly name: string;
  declare readonly route: string;
  declare readonly kind: number;
  errors = 0;
  time = 0;
  readonly released = new DurationCounts();
  /** By which a redaction of the name goes. */
  readonly #attributes: SpanAttributes | undefined;
  /** What has changed name and route for the record, and to what. */
  #redactor: Redactor | undefined;
  #redacted: readonly [name: string, route: string] | undefined;
  /** By bucket: how many were taken back. */
  readonly #owed = new Map<number, number>();

  constructor({ name, route, kind, attributes }: Figures) {
    this.name = name;
    this.route = route;
    this.kind = kind;
    this.#attributes = attributesOfNames(attributes);
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
    const isAttribute = this.#attributes?.[ROUTE_ATTRIBUTE] === this.route;
    return [name, isAttribute ? redactor.text(ROUTE_ATTRIBUTE, this.route) : routeIn(name)];
  }

  /** @param duration nanoseconds. */
  release(duration: number, failed: boolean): void {
    const { released } = this;
    released.counts[bucketOf(duration)]!++;
    released.count++;
    this.time += duration;
    if (failed) this.errors++;
  }

  /** One that was counted is kept after all. */
  takeBack(duration: number, failed: boolean): void {
    const bucket = bucketOf(duration);
    this.#owed.set(bucket, (this.#owed.get(bucket) ?? 0) + 1);
    this.time -= duration;
    if (failed) this.errors--;
  }

  /** Subtracts what was taken back. Those of which a record has gone out already are subtracted from the next ones. */
  settle(): void {
    const { counts } = this.released;
    for (const [bucket, owed] of this.#owed) {
      const now = Math.min(owed, counts[bucket]!);
      counts[bucket]! -= now;
      this.released.count -= now;
      if (now === owed) this.#owed.delete(bucket);
      else this.#owed.set(bucket, owed - now);
    }
  }

  clear(): void {
    this.errors = 0;
    this.time = 0;
    this.released.clear();
  }
}
