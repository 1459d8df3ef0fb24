// The service that bench/view-live.mjs follows. It can record the spans of hours before it is asked anything.

import { flush, startSpan } from 'tracewright/spans';
import { answerJson, serveLoad } from './loaded-service.mjs';

const BODY = JSON.stringify({ message: 'hello, world' });
/** Requests a second of what is recorded at once. */
const RATE = 4000n;
const FLUSH_EVERY = 2000;

process.on('message', async (message) => {
  if (message.record === undefined) return;
  const spans = BigInt(message.record);
  const begin = BigInt(Date.now()) * 1_000_000n - (spans * 1_000_000_000n) / RATE;
  for (let i = 0n; i < spans; i++) {
    const startTime = begin + (i * 1_000_000_000n) / RATE;
    const attributes = { 'http.request.method': 'GET', 'url.path': '/orders' };
    const span = startSpan('GET /orders', attributes, { kind: 'server', startTime });
    span.end(startTime + 200_000n + (i % 7n) * 100_000n);
    if (Number(i) % FLUSH_EVERY === 0) await flush();
  }
  await flush();
  process.send?.({ recorded: message.record });
});

serveLoad((request, response) => {
  answerJson(response, BODY);
});
