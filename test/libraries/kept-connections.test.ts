import { expect, it } from 'vitest';
import { TracedProcess } from '../node/traced-process.js';
import { installedPackages } from './packages.js';
import { describeWith } from './servers.js';

/** Spans that may be alive after ten thousand operations: a connection keeps the context in which it was made. */
const MOST_SPANS = 10;

/** What is alive when a program has asked ten thousand times on connections that it keeps. */
async function aliveAfter(subject: string): Promise<{ spans: number; payloads: number }> {
  const place = await installedPackages('newest');
  const script = new URL('fixtures/kept-connections.mjs', import.meta.url).href;
  const traced = new TracedProcess(script, {
    args: [place, subject],
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_INJECT: 'auto' },
    cwd: place,
  });
  const { code, stdout, stderr } = await traced.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as { spans: number; payloads: number };
}

async function expectNothingKept(subject: string): Promise<void> {
  const { spans, payloads } = await aliveAfter(subject);
  expect(spans).toBeLessThanOrEqual(MOST_SPANS);
  expect(payloads).toBe(0);
}

/** The newest undici needs Node 22. */
const undici = Number.parseInt(process.versions.node) >= 22 ? ['undici'] : [];

it.each([
  'http',
  'fetch',
  ...undici,
  'got',
  'express',
  'fastify',
  'hono',
  'koa',
  'graphql',
  'grpc',
  'ws',
  'socket.io',
])('kept connections of %s keep no spans and nothing of the program', expectNothingKept);

await describeWith(['PostgreSQL'], 'connections to PostgreSQL', () => {
  it.each(['pg', 'pg-pool'])('keep no spans, with %s', expectNothingKept);
});

await describeWith(['MariaDB'], 'connections to MariaDB', () => {
  it.each(['mariadb', 'mariadb pool', 'mysql2', 'mysql2 in callbacks', 'mysql2 pool'])(
    'keep no spans, with %s',
    expectNothingKept,
  );
});

await describeWith(['Redis'], 'connections to Redis', () => {
  it.each(['redis', 'ioredis', 'bullmq'])('keep no spans, with %s', expectNothingKept);
});

await describeWith(['RabbitMQ'], 'connections to RabbitMQ', () => {
  it('keep no spans', () => expectNothingKept('amqplib'));
});

await describeWith(['NATS'], 'connections to NATS', () => {
  it('keep no spans', () => expectNothingKept('nats'));
});
