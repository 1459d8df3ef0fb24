import * as diagnostics from 'node:diagnostics_channel';
import { spans } from '../../spans/shared-spans.js';
import type { Operation } from '../library.js';
import { FAILED, PENDING, RUNNING, SUCCEEDED } from './calls.js';
import type { CallMessage as Message, Outcome, RunningCall } from './calls.js';
import { ConnectionContext } from './connection-context.js';
import { answerForChannels, beginDirectly, recordDirectly } from './direct-calls.js';
import type { LibraryGuard } from './library-guard.js';
import type { OperationSpans } from './operation-spans.js';
import type { CallChannels } from './published-calls.js';

/** Has spans made of what is published on the channels of one operation. */
export class OperationChannels {
  readonly #operation: Operation;
  readonly #spans: OperationSpans;
  readonly #guard: LibraryGuard;
  readonly #storage = spans.contextStorage();

  constructor(operation: Operation, made: OperationSpans, guard: LibraryGuard) {
    this.#operation = operation;
    this.#spans = made;
    this.#guard = guard;
  }

  subscribe(): void {
    const { channel, nests, connects, entersByHand } = this.#operation;
    const takesTurns = this.#operation.turnsOn !== undefined;
    const nameOf = (event: string): string => channelOf(this.#operation, event);
    // One function for each message, and nothing in it that most messages do not need.
    if (entersByHand === true) {
      const begin = (message: unknown): void => {
        this.beginByHand(message as Message);
      };
      diagnostics.subscribe(nameOf('start'), begin);
      const channels = diagnostics.tracingChannel(channel) as unknown as CallChannels;
      beginDirectly(channels, this.#spans, begin);
      if (takesTurns) answerForChannels(channels, this.#spans);
    } else if (nests === true || connects === true) {
      diagnostics
        .channel(nameOf('start'))
        .bindStore(this.#storage, (message) => this.#enter(message as Message));
    } else {
      diagnostics.subscribe(nameOf('start'), (message) => {
        this.#beginPublished(message as Message);
      });
    }
    diagnostics.subscribe(nameOf('end'), (message) => {
      try {
        const running = (message as Message)[RUNNING];
        if (running === undefined) return;
        this.#spans.returned(message as Message, running, outcomeOf(message as Message));
      } catch (error) {
        this.#guard.fail(error);
      }
    });
    if (this.#spans.callsBack) {
      diagnostics
        .channel(nameOf('asyncStart'))
        .bindStore(this.#storage, (message) => this.#goBack(message as Message));
    }
    diagnostics.subscribe(nameOf('asyncEnd'), (message) => {
      try {
        const running = (message as Message)[RUNNING];
        if (running === undefined) return;
        this.#spans.ended(message as Message, running, 'error' in (message as Message));
        // Some libraries keep the message for as long as they keep a connection.
        (message as Message)[RUNNING] = undefined;
      } catch (error) {
        this.#guard.fail(error);
      }
    });
    if (!takesTurns) recordDirectly(channel, this.#spans);
  }

  /** Begins what is announced where no store is bound: before this was loaded, or by the library's way. */
  beginByHand(message: Message): void {
    const running = this.#beginPublished(message);
    if (running === undefined) return;
    if (this.#operation.nests === true) running.enter();
    else if (this.#operation.connects === true) running.enterNothing();
  }

  /** The context while the operation runs. */
  #enter(message: Message): object | undefined {
    const span = this.#beginPublished(message)?.span;
    if (this.#operation.connects === true) return new ConnectionContext(span);
    return span ?? this.#storage.getStore();
  }

  /** The context in the callback. */
  #goBack(message: Message): object | undefined {
    try {
      const running = message[RUNNING];
      if (running !== undefined) return running.caller;
    } catch (error) {
      this.#guard.fail(error);
    }
    return this.#storage.getStore();
  }

  /** Begins an operation to which its message leads. */
  #beginPublished(message: Message): RunningCall | undefined {
    let running: RunningCall | undefined;
    try {
      const known = message[RUNNING];
      if (known?.isHandedOver === true) {
        known.isHandedOver = false;
        return known;
      }
      running = this.#spans.beginApart(message);
      if (running !== undefined) message[RUNNING] = running;
      return running;
    } catch (error) {
      // A frozen message: nothing would end the span.
      if (running?.span !== undefined) spans.discard(running.span);
      this.#guard.fail(error);
      return undefined;
    }
  }
}

/** How far a published operation is. A look-up by name in messages of many shapes: once an event. */
function outcomeOf(message: Message): Outcome {
  if ('error' in message) return FAILED;
  return 'result' in message ? SUCCEEDED : PENDING;
}

export function channelOf({ channel }: Operation, event: string): string {
  return `tracing:${channel}:${event}`;
}
