import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';
import type { Span } from '../../spans/span.js';

/** The context of everything that a connection starts: no span, whichever call has opened it. */
export class ConnectionContext implements ActiveContext {
  readonly activeSpan = undefined;
  readonly carried = undefined;
  readonly #opener: Span | undefined;

  constructor(opener: Span | undefined) {
    this.#opener = opener;
  }

  /** The span that opens the connection, until it has ended. */
  get opener(): Span | undefined {
    return this.#opener?.recording === true ? this.#opener : undefined;
  }
}

/** Calls a function of a library that opens a connection. Nothing is active in what that starts. */
export function openConnection<Result>(open: () => Result): Result {
  const context = spans.activeContext();
  if (context === undefined) return open();
  return spans.runWith(new ConnectionContext(context.activeSpan), open);
}
