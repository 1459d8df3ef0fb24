import { isCallersFault, statusOf } from './engine/answered-errors.js';
import { text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** The message of an injected channel for a call of a handler. */
interface Call {
  controller?: unknown;
  method?: unknown;
}

const handler: Operation<Call> = {
  channel: 'orchestrion:@nestjs/core:handler',
  kind: 'internal',
  nests: true,
  isHandler: true,
  needsParent: true,
  handlesPromises: true,
  describe({ controller, method }) {
    const { name } = (controller ?? {}) as { name?: unknown };
    const both = [text(name), text(method)].filter((part) => part !== undefined).join('.');
    return { name: `handler ${both}`.trimEnd(), attributes: { 'code.function.name': both } };
  },
  // Exceptions of Nest have the one, errors of other packages the other.
  isControlFlow: (error) =>
    isCallersFault(statusOf(error, 'getStatus' in (error as object) ? 'status' : 'statusCode')),
};

/** Handlers of Nest's HTTP controllers, into whose calls the channel is injected. */
export const nest: Library = { name: 'nest', operations: [handler] };
