// Preloaded into a service: the least that records requests with context. An object of its own is active in each, and
// two small ovni events say when it began and ended. No headers are read, nothing of a request outlives a kill.

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { event, procInit, threadInit } from 'tracewright/ovni';

const traceDir = process.env.TRACEWRIGHT_DIR;
procInit(1, 'bench', process.pid, { traceDir, ringDir: traceDir });
threadInit();
const began = event('XYB(u32 number)');
const ended = event('XYE(u32 number)');

class Active {
  constructor(number) {
    this.number = number;
  }
}

const storage = new AsyncLocalStorage();
let requests = 0;

subscribe('http.server.request.start', () => {
  requests = (requests + 1) | 0;
  storage.enterWith(new Active(requests));
  began(requests);
});
subscribe('http.server.response.finish', () => {
  ended(storage.getStore()?.number ?? 0);
});
