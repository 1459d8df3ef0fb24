// Loads AsyncLocalStorage before the service, as the hook does: on Node 24 the service itself is faster then.

import { AsyncLocalStorage } from 'node:async_hooks';

export const storage = new AsyncLocalStorage();
