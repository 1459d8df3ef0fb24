import { requiredObject, requiredText, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** Of the event nothing but the pattern of its route is read. */
interface Handling {
  type?: unknown;
  event?: { context?: { matchedRoute?: { route?: unknown } } };
}

const handling: Operation<Handling> = {
  channel: 'h3.request',
  kind: 'internal',
  nests: true,
  needsParent: true,
  describe({ type, event }) {
    const { context } = requiredObject(event, 'event') as NonNullable<Handling['event']>;
    if (requiredText(type, 'type') === 'middleware') return { name: 'middleware', attributes: {} };
    const pattern = text(context?.matchedRoute?.route) ?? '';
    return { name: `handler ${pattern.slice(0, 256)}`.trimEnd(), attributes: {} };
  },
};

export const h3: Library = { name: 'h3', operations: [handling] };
