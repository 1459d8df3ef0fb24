import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The libraries that the tests run: the newest version of each, and the oldest that is recorded. Versions are exact,
 * because npm takes older majors on an old Node otherwise.
 */
const PACKAGES = {
  newest: {
    '@grpc/grpc-js': '1.14.7',
    '@hono/node-server': '2.1.8',
    '@koa/router': '15.7.0',
    '@nats-io/transport-node': '3.4.0',
    '@nestjs/common': '12.5.1',
    '@nestjs/core': '12.5.1',
    '@nestjs/platform-express': '12.5.1',
    '@opentelemetry/api': '1.9.1',
    '@opentelemetry/propagator-aws-xray': '2.2.0',
    '@opentelemetry/propagator-b3': '2.12.0',
    '@opentelemetry/propagator-jaeger': '2.12.0',
    '@platformatic/kafka': '2.12.1',
    '@redis/client': '6.3.1',
    ai: '7.0.173',
    amqplib: '2.3.1',
    bullmq: '6.7.0',
    bunyan: '2.0.5',
    cron: '4.4.0',
    croner: '11.0.1',
    db0: '0.4.2',
    'drizzle-orm': '0.45.4',
    express: '5.3.0',
    fastify: '5.12.8',
    'generic-pool': '3.9.0',
    got: '16.1.0',
    graphql: '17.1.0',
    h3: '2.0.8',
    hono: '4.13.19',
    ioredis: '6.0.0',
    kafkajs: '2.2.4',
    knex: '3.3.0',
    koa: '3.3.0',
    'lru-cache': '11.5.3',
    mariadb: '3.5.4',
    mongodb: '7.9.0',
    mongoose: '9.12.1',
    mssql: '12.7.14',
    mysql: '2.18.1',
    mysql2: '3.24.6',
    'node-cron': '4.6.0',
    'node-schedule': '2.1.1',
    pg: '8.23.1',
    pino: '10.4.0',
    piscina: '5.3.2',
    postgres: '3.4.9',
    'reflect-metadata': '0.2.2',
    router: '2.3.0',
    rxjs: '7.8.2',
    'socket.io': '4.8.4',
    'socket.io-client': '4.8.4',
    srvx: '1.0.8',
    undici: '8.12.4',
    winston: '3.19.0',
    ws: '8.23.0',
  },
  oldest: {
    '@grpc/grpc-js': '1.3.8',
    '@hono/node-server': '1.19.19',
    '@koa/router': '12.0.0',
    '@nestjs/common': '10.0.0',
    '@nestjs/core': '10.0.0',
    '@nestjs/platform-express': '10.0.0',
    '@platformatic/kafka': '1.11.0',
    '@redis/client': '5.12.0',
    ai: '7.0.0',
    amqplib: '0.10.4',
    bullmq: '5.41.0',
    bunyan: '1.8.0',
    cron: '3.0.0',
    croner: '8.0.0',
    db0: '0.4.0',
    express: '4.16.0',
    fastify: '5.0.0',
    'generic-pool': '3.1.1',
    got: '14.6.6',
    graphql: '17.0.0',
    h3: '2.0.1',
    hono: '4.0.0',
    ioredis: '5.11.0',
    kafkajs: '2.0.0',
    knex: '1.0.1',
    koa: '2.13.0',
    'lru-cache': '11.3.0',
    mariadb: '3.4.1',
    mongodb: '6.7.0',
    mongoose: '9.7.0',
    mssql: '12.7.0',
    mysql: '2.16.0',
    mysql2: '3.20.0',
    'node-cron': '4.0.0',
    'node-schedule': '2.0.0',
    pg: '8.4.0',
    pino: '6.0.0',
    piscina: '4.0.0',
    postgres: '3.4.0',
    'reflect-metadata': '0.1.14',
    rxjs: '7.8.2',
    'socket.io': '4.0.0',
    'socket.io-client': '4.0.0',
    srvx: '0.11.4',
    undici: '7.30.2',
    winston: '3.2.0',
    ws: '8.0.0',
  },
  /** The newest of an earlier major version. */
  earlier: {
    '@hono/node-server': '1.8.2',
    '@koa/router': '12.0.0',
    '@nestjs/common': '11.2.10',
    '@nestjs/core': '11.2.10',
    '@nestjs/platform-express': '11.2.10',
    '@redis/client': '5.11.0',
    amqplib: '1.2.0',
    bullmq: '5.81.5',
    cron: '3.5.0',
    croner: '10.0.1',
    express: '4.22.1',
    fastify: '4.29.1',
    graphql: '16.15.0',
    hono: '3.12.12',
    ioredis: '5.10.1',
    kafkajs: '1.16.0',
    koa: '2.16.4',
    mongodb: '6.22.0',
    mssql: '11.0.1',
    mysql2: '3.19.1',
    'node-cron': '3.0.3',
    pg: '7.18.2',
    'reflect-metadata': '0.2.2',
    rxjs: '7.8.2',
    'socket.io': '3.1.2',
    'socket.io-client': '3.1.3',
    ws: '7.5.14',
  },
  /** The newest of the major version before that. */
  ancient: {
    '@koa/router': '12.0.0',
    '@redis/client': '1.6.1',
    amqplib: '0.10.9',
    bullmq: '4.18.3',
    croner: '9.1.0',
    'drizzle-orm': '0.36.4',
    express: '5.0.0',
    fastify: '3.29.5',
    graphql: '15.11.0',
    ioredis: '4.31.0',
    mongodb: '5.9.2',
    mysql2: '2.3.3',
    'node-cron': '3.0.0',
    pg: '8.11.3',
    redis: '3.1.2',
    router: '2.0.0',
    'socket.io': '3.0.4',
    'socket.io-client': '3.0.4',
  },
  /** Of still earlier forms. */
  first: {
    '@redis/client': '1.2.0',
    fastify: '3.0.0',
    'socket.io': '2.0.4',
    'socket.io-client': '2.0.4',
  },
} as const;

/** Which version of a library. */
export type Age = keyof typeof PACKAGES;

/** The version of a library that the tests run. */
export function versionOf(age: Age, name: string): string {
  const versions: Readonly<Record<string, string>> = PACKAGES[age];
  return versions[name] ?? `none of ${name}`;
}

const build = fileURLToPath(new URL('../../build/', import.meta.url));
const LOCK_AGE_MS = 300_000;

/** Waits until no other test installs. */
async function lock(path: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(path);
      return;
    } catch {
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > LOCK_AGE_MS) rmSync(path, { recursive: true, force: true });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** The directory with the packages, which are installed if they are not there yet. */
export async function installedPackages(age: Age): Promise<string> {
  const place = join(build, 'libraries', age);
  mkdirSync(place, { recursive: true });
  const held = join(build, `libraries-${age}.lock`);
  await lock(held);
  try {
    install(place, JSON.stringify({ private: true, dependencies: PACKAGES[age] }, null, 2));
    return place;
  } finally {
    rmSync(held, { recursive: true, force: true });
  }
}

function install(place: string, manifest: string): void {
  const done = join(place, 'installed.json');
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return;
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), manifest);
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];
  const { status, stderr } = spawnSync('npm', ['install', ...options], {
    cwd: place,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm has not installed the libraries: ${stderr}`);
  writeFileSync(done, manifest);
}
