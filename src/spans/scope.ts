import type { SpanOutput } from './write/span-output.js';
import type { SpanAttributes } from './span.js';

/** Which library records a span: OpenTelemetry's instrumentation scope. */
export class Scope {
  readonly name: string;
  readonly version: string;
  readonly schemaUrl: string;
  readonly attributes: SpanAttributes | undefined;
  /** The output that knows it by a number, and this. */
  output: SpanOutput | undefined = undefined;
  number = 0;

  constructor(name: string, version = '', schemaUrl = '', attributes?: SpanAttributes) {
    this.name = name;
    this.version = version;
    this.schemaUrl = schemaUrl;
    this.attributes = attributes;
  }
}
