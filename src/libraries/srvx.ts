import { requiredObject, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** Of the request nothing is read. */
interface Handling {
  request?: unknown;
  middleware?: { handler?: unknown };
}

/** A middleware and what it calls. */
const middleware: Operation<Handling> = {
  isMinor: () => true,
  channel: 'srvx.middleware',
  kind: 'internal',
  nests: true,
  needsParent: true,
  describe(message) {
    const { handler } = requiredObject(message.middleware, 'middleware') as { handler?: unknown };
    const name = text((handler as { name?: unknown } | undefined)?.name);
    return {
      name: `middleware ${name ?? ''}`.trimEnd(),
      attributes: { 'code.function.name': name },
    };
  },
};

/** The function `fetch` of the server. */
const handler: Operation<Handling> = {
  channel: 'srvx.request',
  kind: 'internal',
  nests: true,
  needsParent: true,
  describe(message) {
    requiredObject(message.request, 'request');
    return { name: 'handler', attributes: {} };
  },
};

export const srvx: Library = { name: 'srvx', operations: [middleware, handler] };
