// The service that bench/http-spans.mjs loads: three steps a request, each of them a span if it is asked for.

import { setImmediate as turn } from 'node:timers/promises';
import { withSpan } from 'tracewright/spans';
import { answerJson, serveLoad } from './loaded-service.mjs';

const withSpans = process.argv[2] === 'spans';

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

serveLoad(async (request, response) => {
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
  answerJson(response, body);
});
