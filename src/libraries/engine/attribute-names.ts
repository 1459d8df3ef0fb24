import type { SpanValue } from '../../spans/attributes.js';
import type * as names from './conventions.js';

type ConstantName = Exclude<(typeof names)[keyof typeof names], typeof names.OTHER>;

/** The names that spans of libraries have. */
type AttributeName = names.LiteralName | ConstantName;

/**
 * Attributes of a span. Literals of them write the names out: a name that is computed takes V8 a hundred
 * nanoseconds until it compiles the function, and for good if it collects garbage before.
 */
export type Attributes = { [Name in AttributeName]?: SpanValue };
