import type { SpanAttributes } from '../spans/attributes.js';
import type { Resource } from '../spans/resource.js';

/** A resource in the form that exporters of OpenTelemetry's SDK read: those of its versions 1 and 2. */
export class ReadableResource {
  readonly attributes: SpanAttributes;
  readonly schemaUrl: string | undefined;
  readonly asyncAttributesPending = false;

  constructor(attributes: SpanAttributes, schemaUrl: string | undefined) {
    this.attributes = attributes;
    this.schemaUrl = schemaUrl;
  }

  waitForAsyncAttributes(): Promise<void> {
    return Promise.resolve();
  }

  getRawAttributes(): [string, unknown][] {
    return Object.entries(this.attributes);
  }

  /** Attributes of the other one go first. */
  merge(other: { attributes?: SpanAttributes; schemaUrl?: string } | null): ReadableResource {
    if (other === null) return this;
    const attributes = { ...this.attributes, ...other.attributes };
    return new ReadableResource(attributes, other.schemaUrl ?? this.schemaUrl);
  }
}

const made = new WeakMap<Resource, ReadableResource>();

/** One object for each resource: exporters group spans by it. */
export function readableResource(resource: Resource): ReadableResource {
  let readable = made.get(resource);
  if (readable === undefined) {
    const { attributes, schemaUrl } = resource;
    readable = new ReadableResource(attributes, schemaUrl === '' ? undefined : schemaUrl);
    made.set(resource, readable);
  }
  return readable;
}
