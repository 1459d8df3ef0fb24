import { expect, it } from 'vitest';
import { express } from '../../../src/libraries/express.js';
import { fastify } from '../../../src/libraries/fastify.js';
import { hono } from '../../../src/libraries/hono.js';
import { koa } from '../../../src/libraries/koa.js';
import type { Library } from '../../../src/libraries/library.js';
import { nest } from '../../../src/libraries/nest.js';

function isAnswered({ operations }: Library, error: unknown, message = {}): boolean {
  return operations[0]!.isControlFlow!(error, message);
}

const withStatus = (status: number): object => Object.assign(new Error('x'), { status });
const withStatusCode = (statusCode: number): object =>
  Object.assign(new Error('x'), { statusCode });

it.each([
  ['express', express],
  ['koa', koa],
  ['fastify', fastify],
])('%s answers an error with the status that it has', (_, library) => {
  expect(isAnswered(library, withStatus(404))).toBe(true);
  expect(isAnswered(library, withStatusCode(422))).toBe(true);
  for (const failure of [withStatus(500), withStatusCode(503), new Error('x'), 'x', null]) {
    expect(isAnswered(library, failure)).toBe(false);
  }
});

it('fastify answers an error without one with that of the reply', () => {
  expect(isAnswered(fastify, new Error('x'), { reply: { statusCode: 404 } })).toBe(true);
  expect(isAnswered(fastify, new Error('x'), { reply: { statusCode: 200 } })).toBe(false);
  expect(isAnswered(fastify, withStatus(503), { reply: { statusCode: 404 } })).toBe(false);
});

it('hono and Nest answer their own exceptions alone', () => {
  const getResponse = (): Response => new Response();
  expect(isAnswered(hono, Object.assign(withStatus(403), { getResponse }))).toBe(true);
  expect(isAnswered(hono, Object.assign(withStatus(502), { getResponse }))).toBe(false);
  expect(isAnswered(hono, withStatus(404))).toBe(false);
  const getStatus = (): number => 404;
  expect(isAnswered(nest, Object.assign(withStatus(404), { getStatus }))).toBe(true);
  expect(isAnswered(nest, withStatusCode(404))).toBe(true);
  expect(isAnswered(nest, withStatus(404))).toBe(false);
});
