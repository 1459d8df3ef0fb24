import type { TracedChannels } from './published-starts.js';

/** A function whose calls are published with `self`, `arguments`, and `result` or `error`. */
export interface PublishedMethod {
  readonly channel: string;
  /** The object that has it, as an expression of the file. */
  readonly owner: string;
  /** The first of these that the object has. */
  readonly names: readonly string[];
  /** A function of the object and the arguments, as an expression: it returns further fields of the message. */
  readonly fields?: string;
}

/** A text that is changed: it is found exactly once, and spaces in a string may be any white space. */
export interface ChangedText {
  readonly channel: string;
  readonly from: string | RegExp;
  /** In it, `$channel` is what {@link injectedChannel} returns, `$match` the text, and `$1` a group of it. */
  readonly to: string;
  /** Whether a file without it gets its other changes. */
  readonly isOptional?: boolean;
  /** Whether it serves the routes of requests alone, which libraries that are not recorded report too. */
  readonly isOfRoutes?: boolean;
}

/** A file of a library into which channels are put. */
export interface InjectedFile {
  readonly package: string;
  /** Its path in the package, with `/`. */
  readonly path: RegExp;
  readonly methods?: readonly PublishedMethod[];
  readonly texts?: readonly ChangedText[];
  /** A file with this in it is left as it is: it has channels of its own. */
  readonly unless?: RegExp;
  /** Only of a file with this in it. */
  readonly only?: RegExp;
  /** Why nothing can be put into it, for the warning. */
  readonly reason?: string;
}

/** The changes of a library's files. */
export interface Injection {
  readonly files: readonly InjectedFile[];
  /** Functions of `$channel` for its changed texts, in addition to those of every library. */
  readonly calls?: (channels: TracedChannels) => object;
}

/** Of a library that publishes what it does. */
export const PUBLISHES = /diagnostics_channel|tracing/i;

export function method(channel: string, owner: string, ...names: string[]): PublishedMethod {
  return { channel, owner, names };
}

/**
 * Publishes a call of a function of the program.
 *
 * @param start of the call's text: the function and its first parameters.
 * @param message names and expressions of the message's fields.
 * @param receiver the expression of its `this`.
 */
export function call(
  channel: string,
  start: string,
  message: string,
  receiver = 'void 0',
): ChangedText {
  const end = start.indexOf('(');
  const callee = start.slice(0, end);
  const to = `$channel.traceSync(${callee}, { ${message} }, ${receiver}, ${start.slice(end + 1)}`;
  return { channel, from: start, to };
}
