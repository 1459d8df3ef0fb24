import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';
import type { Span } from '../../spans/span.js';
import type { CallMessage, RecordedCall } from './direct-calls.js';

export const RUNNING = Symbol('tracewright.operation');
export const TURN = Symbol('tracewright.turn');

export type Context = ActiveContext | undefined;

/** An operation on its way. */
export class Running implements RecordedCall {
  /** Undefined: it is not recorded, or over. */
  span: Span | undefined;
  /** What was active where the program called. */
  readonly caller: Context;
  /** Whether its span was made active by hand, and `before` must be again. */
  isEntered = false;
  before: unknown = undefined;
  /** Whether it is published after it has begun. */
  isHandedOver = false;
  /** When it began, in ms: of what has no span. A number here would be an object more for each that has. */
  since: number | undefined = undefined;
  /** Whether its span begins only when the program has to wait. */
  isLate = false;

  constructor(span: Span | undefined, caller: Context) {
    this.span = span;
    this.caller = caller;
  }

  /** Makes its span active until `leave`. */
  enter(): void {
    if (this.span === undefined) return;
    this.before = spans.swapContext(this.span);
    this.isEntered = true;
  }

  leave(): void {
    this.isEntered = false;
    spans.leaveContext(this.before);
    this.before = undefined;
  }
}

/** What a library publishes: one object for all events of an operation. */
export interface Message extends CallMessage {
  [RUNNING]?: Running | undefined;
}

/** Where operations take turns: what is above them, and whose turn it is. */
export interface Turn {
  above: Context;
  message: Message;
}
