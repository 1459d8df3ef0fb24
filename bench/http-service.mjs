// The service that bench/http.mjs loads: it answers, counts, and reports the CPU time that it used.

import { createServer } from 'node:http';

const BODY = JSON.stringify({ message: 'hello, world' });
let requests = 0;

const server = createServer((request, response) => {
  requests += 1;
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(BODY),
  });
  response.end(BODY);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }));

process.on('message', (message) => {
  if (message === 'end') {
    // By itself: what traces has an end to write.
    process.disconnect();
    server.closeAllConnections();
    server.close();
    return;
  }
  const { user, system } = process.cpuUsage();
  process.send?.({ requests, cpuUs: user + system, ms: performance.now() });
});
