import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, streamsOf } from '../written-traces.js';
import { dependencies, install, place, recordedIn, treeOf } from './installed.js';

const OFFICIAL = ['express', 'pg', 'ioredis'].map(
  (name) => `@opentelemetry/instrumentation-${name}`,
);
const FASTIFY = ['@fastify/otel', ...OFFICIAL.slice(1)];

/** The spans of one request, after another one that has opened the connections. */
async function request(directory: string, file: string, env: Record<string, string> = {}) {
  const service = new TracedProcess(join(directory, file), {
    env: {
      TRACEWRIGHT_CONTEXT: 'on',
      // Whose streams say which threads there were.
      TRACEWRIGHT_FORMATS: 'heph,ovni',
      // Libraries are left to the instrumentations.
      TRACEWRIGHT_INJECT: 'off',
      ...env,
    },
    cwd: directory,
  });
  await service.get('/users/1');
  expect(JSON.parse(await service.get('/users/2'))).toEqual({ id: 2, seen: null });
  service.kill('SIGTERM');
  expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
  expect(faultsOf(service.directory)).toEqual([]);
  // The thread of module hooks is none of the trace.
  expect([...streamsOf(service.directory).keys()]).toEqual(['main']);
  const spans = await recordedIn(service.directory);
  const second = spans.find(({ attributes }) => attributes['url.path'] === '/users/2')!;
  const ofRequest = spans.filter(({ traceId }) => traceId === second.traceId);
  return { tree: treeOf(ofRequest), spans };
}

describe.skipIf(place === undefined)('instrumentations that a program has installed record', () => {
  const asked = ['    pg: pg-pool.connect', '    pg: pg.query:SELECT postgres', '    ioredis: get'];

  it('a request to Express, as CommonJS', async () => {
    const directory = install('express', ['express-service.cjs'], dependencies(...OFFICIAL));
    const { tree } = await request(directory, 'express-service.cjs', {
      TRACEWRIGHT_LIBRARIES: 'off',
    });
    expect(tree).toEqual([
      'tracewright/register: GET /users/:id',
      '  express: request handler',
      ...asked,
    ]);
  });

  it('a request to Express by the package of all', async () => {
    const name = '@opentelemetry/auto-instrumentations-node';
    const directory = install('express-all', ['express-service.cjs'], dependencies(name));
    const { tree } = await request(directory, 'express-service.cjs', {
      OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'net,dns',
    });
    // The router publishes what it does, so that the hook records it.
    expect(tree).toEqual([
      'tracewright/register: GET /users/:id',
      '  tracewright/express: handler /users/:id',
      ...asked,
    ]);
  });

  it('a request to Fastify, as an ES module', async () => {
    const directory = install('fastify', ['fastify-service.mjs'], dependencies(...FASTIFY));
    const { tree } = await request(directory, 'fastify-service.mjs', {
      TRACEWRIGHT_INSTRUMENTATIONS: FASTIFY.join(','),
    });
    expect(tree).toEqual([
      'tracewright/register: GET /users/:id',
      '  @fastify/otel: request',
      '    @fastify/otel: handler - fastify -> @fastify/otel',
      '      the-service: load user',
      ...asked.map((line) => `    ${line}`),
    ]);
  });

  it('a request to Fastify, which publishes what it does', async () => {
    const directory = install('fastify', ['fastify-service.mjs'], dependencies(...FASTIFY));
    const { tree } = await request(directory, 'fastify-service.mjs');
    expect(tree).toEqual([
      'tracewright/register: GET /users/:id',
      '  tracewright/fastify: handler /users/:id',
      '    the-service: load user',
      ...asked.map((line) => `  ${line}`),
    ]);
  });

  it('only what is named', async () => {
    const directory = install('fastify', ['fastify-service.mjs'], dependencies(...FASTIFY));
    const { tree } = await request(directory, 'fastify-service.mjs', {
      TRACEWRIGHT_INSTRUMENTATIONS: 'pg',
      TRACEWRIGHT_LIBRARIES: 'off',
    });
    expect(tree).toEqual([
      'tracewright/register: GET /users/:id',
      '  the-service: load user',
      '    pg: pg-pool.connect',
      '    pg: pg.query:SELECT postgres',
    ]);
  });

  it('nothing where they are off', async () => {
    const directory = install('express', ['express-service.cjs'], dependencies(...OFFICIAL));
    const { tree } = await request(directory, 'express-service.cjs', {
      TRACEWRIGHT_INSTRUMENTATIONS: 'off',
      TRACEWRIGHT_LIBRARIES: 'off',
    });
    expect(tree).toEqual(['tracewright/register: GET /users/:id']);
  });
});
