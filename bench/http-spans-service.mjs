// The service that bench/http-spans.mjs loads: three steps a request, each of them a span if it is asked for.

import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { withSpan } from 'tracewright/spans';

const withSpans = process.argv[2] === 'spans';
let requests = 0;

/**
 * @template Result
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {() => Promise<Result>} fn
 */
const step = (name, attributes, fn) => (withSpans ? withSpan(name, attributes, fn) : fn());

/** @param {string} id */
async function load(id) {
  await turn();
  return { id, items: [1, 2, 3] };
}

const server = createServer(async (request, response) => {
  requests += 1;
  const id = request.url ?? '';
  const order = await step('load order', { id, cached: 0 }, () => load(id));
  const total = await step('add up', { items: order.items.length }, async () => {
    await undefined;
    return order.items.reduce((sum, each) => sum + each, 0);
  });
  const body = await step('render', { total, type: 'json' }, async () => {
    await undefined;
    return JSON.stringify({ ...order, total });
  });
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
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
