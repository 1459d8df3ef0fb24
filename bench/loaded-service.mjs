// What the services under load have in common: they count, report their CPU time, and end when asked to.

import { createServer } from 'node:http';

/**
 * @param {import('node:http').ServerResponse} response
 * @param {string} body
 */
export function answerJson(response, body) {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** @param {import('node:http').RequestListener} answer */
export function serveLoad(answer) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response);
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
    const used = process.resourceUsage();
    process.send?.({
      requests,
      cpuUs: used.userCPUTime + used.systemCPUTime,
      systemUs: used.systemCPUTime,
      pageFaults: used.minorPageFault,
      preemptions: used.involuntaryContextSwitches,
      ms: performance.now(),
    });
  });
}
