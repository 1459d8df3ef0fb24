import type { SpanAttributes } from './attributes.js';

/** Which library records a span: OpenTelemetry's instrumentation scope. */
export class Scope {
  readonly name: string;
  readonly version: string;
  readonly schemaUrl: string;
  readonly attributes: SpanAttributes | undefined;
  /** The output that knows it by a number, and this. */
  output: object | undefined = undefined;
  number = 0;
  /** The `Prefix` with which its last span began. */
  last: object | undefined = undefined;

  constructor(name: string, version = '', schemaUrl = '', attributes?: SpanAttributes) {
    this.name = name;
    this.version = version;
    this.schemaUrl = schemaUrl;
    this.attributes = attributes;
  }
}

/** That of a program's own spans, which have none. */
export const NO_SCOPE = new Scope('');
