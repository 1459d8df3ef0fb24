// Preloaded into a service: what context costs by Node's own means. A constant is active in each request, and nothing is
// recorded.

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';

const storage = new AsyncLocalStorage();
const ACTIVE = {};

subscribe('http.server.request.start', () => {
  storage.enterWith(ACTIVE);
});
subscribe('http.server.response.finish', () => {});
