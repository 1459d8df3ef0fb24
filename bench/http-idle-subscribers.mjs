// Preloaded into a service: subscribers that do nothing, on the channels that register.ts uses.

import { subscribe } from 'node:diagnostics_channel';

subscribe('http.server.request.start', () => {});
subscribe('http.server.response.finish', () => {});
