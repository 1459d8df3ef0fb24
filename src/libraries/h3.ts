import { isAnswered } from './engine/answered-errors.js';
import { isMiddleware } from './engine/middleware.js';
import { isObject, requiredObject, requiredText, text } from './engine/payload.js';
import { frameworkRouteFound } from './engine/router-matches.js';
import type { Library, Operation } from './library.js';

/** Of the event nothing but the pattern of its route is read, and which request of Node it is of. */
interface Event {
  context?: { matchedRoute?: { route?: unknown } };
  runtime?: { node?: { req?: unknown } };
}

interface Handling {
  type?: unknown;
  event?: Event;
}

const MAX_PATTERN = 256;

const handling: Operation<Handling> = {
  channel: 'h3.request',
  kind: 'internal',
  nests: true,
  isMinor: isMiddleware,
  isHandler: true,
  needsParent: true,
  describe({ type, event }) {
    const { context, runtime } = requiredObject(event, 'event') as Event;
    if (requiredText(type, 'type') === 'middleware') return { name: 'middleware', attributes: {} };
    const pattern = text(context?.matchedRoute?.route)?.slice(0, MAX_PATTERN);
    const request = runtime?.node?.req;
    if (pattern !== undefined && isObject(request)) frameworkRouteFound(request, pattern);
    return { name: `handler ${pattern ?? ''}`.trimEnd(), attributes: {} };
  },
  isControlFlow: isAnswered,
};

export const h3: Library = { name: 'h3', operations: [handling] };
