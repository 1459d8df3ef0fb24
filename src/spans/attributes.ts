/**
 * A value of an attribute. Other objects become JSON; what cannot be recorded is counted in the span's
 * `dropped.attributes`.
 */
export type SpanValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Date
  | readonly (string | number | bigint | boolean | null | undefined)[]
  | ArrayBufferView
  | object;

/** Names and values. */
export type SpanAttributes = Readonly<Record<string, SpanValue>>;
