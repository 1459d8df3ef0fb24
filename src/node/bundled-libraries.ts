import { readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { shared } from '../core/process-state.js';
import type { InjectedName } from '../libraries/watched-channels.js';
import { warn } from './warning.js';

/**
 * A text of each library that no bundler and no minifier changes. The second is one of the versions that publish what
 * they do.
 */
const TEXTS: Readonly<Partial<Record<InjectedName, string | readonly [string, unless: string]>>> = {
  amqplib: 'Channel ended, no reply will be forthcoming',
  bullmq: 'Missing lock for job',
  express: ['argument handler must be a function', 'express.router.request'],
  express4: '.prototype.handle_request',
  fastify: ['FST_ERR_REP_ALREADY_SENT', 'fastify.request.handler'],
  'generic-pool': 'Resource not currently part of this pool',
  graphql16: 'dropped long-deprecated support for positional arguments',
  hono: 'Context is not finalized',
  ioredis: ['Reached the max retries per request limit', 'ioredis:command'],
  kafkajs: 'KafkaJSNonRetriableError',
  knex: 'Knex: Timeout acquiring a connection',
  koa: 'Middleware must be composed of functions',
  mongodb: 'MongoTopologyClosedError',
  mysql2: ['add new command when connection is in closed state', 'mysql2:query'],
  nest: 'RouterExecutionContext',
  pg: 'has encountered a connection error and is not queryable',
  redis: ['Socket already opened', 'node-redis:command'],
  redis3: 'Redis connection in broken state',
  'socket.io': 'ignore packet received after disconnection',
  ws: 'WebSocket was closed before the connection was established',
};

/** What keeps a library out of a bundle, if it is not called as its package. */
const PACKAGES: Readonly<Partial<Record<InjectedName, string>>> = {
  express4: 'express',
  graphql16: 'graphql',
  nest: '@nestjs/core',
  redis3: 'redis',
};

/** What packages have within themselves, rather than depend on it: their calls are missed. Others serve tools. */
const CLIENTS: readonly InjectedName[] = [
  'amqplib',
  'bullmq',
  'ioredis',
  'kafkajs',
  'knex',
  'mongodb',
  'mysql2',
  'pg',
  'redis',
  'redis3',
];

const IN_PACKAGE = /[\\/]node_modules[\\/]/;

const warned = shared('node.bundled', () => new Set<string>());

/** Says once what of a bundle is not recorded: it has neither the files of the libraries nor channels. */
export function warnOfBundled(names: readonly InjectedName[], content: string, path: string): void {
  const { packages, warning } = found(names, (text) => content.includes(text), path);
  if (packages.length === 0) return;
  const externals = packages.map((name) => `--external:${name}`).join(' ');
  warn(`${warning}; leave ${packages.length === 1 ? 'it' : 'them'} out: ${externals}`);
}

/** @param includes whether a bundle has a text. */
function found(
  names: readonly InjectedName[],
  includes: (text: string) => boolean,
  path: string,
): { packages: readonly string[]; warning: string } {
  const missed = names.filter((name) => {
    const [text, unless] = [TEXTS[name] ?? []].flat();
    if (text === undefined || warned.has(name) || !includes(text)) return false;
    return unless === undefined || !includes(unless);
  });
  for (const name of missed) warned.add(name);
  const packages = [...new Set(missed.map((name) => PACKAGES[name] ?? name))];
  const [are, them] = packages.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const warning = `${packages.join(', ')} ${are} not traced: ${path} is a bundle that contains ${them}`;
  return { packages, warning };
}

const PIECE_BYTES = 1 << 18;
/** Of a text that is looked for, at most. */
const OVERLAP_BYTES = 128;

/** The same of a file of a package. It is read in pieces, apart from the thread that serves. */
export async function warnOfBundledPackage(
  names: readonly InjectedName[],
  path: string,
): Promise<void> {
  const clients = names.filter((name) => CLIENTS.includes(name));
  const left = new Set(clients.flatMap((name) => [TEXTS[name] ?? []].flat()));
  const texts = new Set<string>();
  const file = await open(path);
  try {
    const piece = Buffer.alloc(OVERLAP_BYTES + PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(piece, OVERLAP_BYTES, PIECE_BYTES);
      if (bytesRead === 0) break;
      for (const text of left) {
        if (!piece.subarray(0, OVERLAP_BYTES + bytesRead).includes(text)) continue;
        texts.add(text);
        left.delete(text);
      }
      piece.copyWithin(0, bytesRead, OVERLAP_BYTES + bytesRead);
    }
  } finally {
    await file.close();
  }
  const { packages, warning } = found(clients, (text) => texts.has(text), path);
  if (packages.length > 0) warn(warning);
}

/** A file with fewer bytes has no library in it. */
const LEAST_BUNDLE = 1 << 14;
/** Bytes of all files of a program that are read, and their number. */
const MOST_BYTES = 1 << 26;
const MOST_FILES = 64;
/** A module of the program itself. */
const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+\.m?js)["']/g;

/** The same of a program of ES modules, which may be a bundle of several files. */
export function warnOfBundledProgram(names: readonly InjectedName[], program: string): void {
  const files = new Set([program]);
  let bytes = 0;
  for (const path of files) {
    let content: string;
    try {
      const stats = statSync(path);
      if (!stats.isFile() || (bytes += stats.size) > MOST_BYTES) return;
      content = readFileSync(path, 'utf8');
    } catch {
      // It cannot be read.
      continue;
    }
    if (content.length >= LEAST_BUNDLE) warnOfBundled(names, content, path);
    for (const [, imported = ''] of content.matchAll(IMPORTED)) {
      if (files.size >= MOST_FILES) break;
      const found = resolve(dirname(path), imported);
      if (!IN_PACKAGE.test(found)) files.add(found);
    }
  }
}
