import type { Operation } from '../library.js';
import type { Attributes } from './attribute-names.js';

/** The message of a channel for a call that acquires a connection, or another resource, of a pool. */
interface Acquisition {
  result?: unknown;
}

/**
 * Waiting for what a pool holds, if there was anything to wait for.
 *
 * @param name of the span.
 */
export function poolWait<Message extends object = object>(
  channel: string,
  name: string,
  attributesOf: (message: Message) => Attributes = () => ({}),
): Operation<Message & Acquisition> {
  return {
    channel,
    kind: 'internal',
    // Also of what is not recorded it is known that it has the resource.
    callsBack: true,
    atLeastMs: 1,
    describe: (message) => ({ name, attributes: attributesOf(message) }),
    acquired: ({ result }) => result,
  };
}
