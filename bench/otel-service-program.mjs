// The service that bench/otel-service.mjs loads: a handler, two steps that await, and one more within each of them.
// Each is a span of the OpenTelemetry API, if they are asked for.

import { setImmediate as turn } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import { answerJson, serveLoad } from './loaded-service.mjs';

const withSpans = process.argv[2] === 'spans';
const tracer = trace.getTracer('orders', '1.0.0');

/**
 * @template Result
 * @param {string} name
 * @param {import('@opentelemetry/api').Attributes} attributes
 * @param {() => Promise<Result>} fn
 */
function step(name, attributes, fn) {
  if (!withSpans) return fn();
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await fn();
    } finally {
      span.end();
    }
  });
}

/**
 * @template Result
 * @param {string} name
 * @param {import('@opentelemetry/api').Attributes} attributes
 * @param {() => Result} fn
 */
function nested(name, attributes, fn) {
  if (!withSpans) return fn();
  const span = tracer.startSpan(name, { attributes });
  const result = fn();
  span.end();
  return result;
}

/** @param {string} id */
async function loadOrder(id) {
  await turn();
  return nested('parse order', { format: 'json', bytes: 42 }, () => ({ id, items: [1, 2, 3] }));
}

/** @param {Awaited<ReturnType<typeof loadOrder>>} order */
async function render(order) {
  await undefined;
  const total = nested('add up', { items: order.items.length, currency: 'EUR' }, () =>
    order.items.reduce((sum, each) => sum + each, 0),
  );
  return JSON.stringify({ ...order, total });
}

serveLoad((request, response) =>
  step('get order', { method: request.method, cached: false }, async () => {
    const id = request.url ?? '';
    const order = await step('load order', { id, attempt: 1 }, () => loadOrder(id));
    const body = await step('render', { type: 'json', pretty: false }, () => render(order));
    answerJson(response, body);
  }),
);
