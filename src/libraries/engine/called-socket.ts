import { shared } from '../../core/process-state.js';

/** The unix socket that the request of undici goes to which is being made; undefined: it goes to a port. */
export const calledSocket = shared('libraries.calledSocket', () => ({
  path: undefined as string | undefined,
}));
