import { readFileSync, statSync } from 'node:fs';
import { shared } from '../core/process-state.js';
import type { InjectedName } from '../libraries/watched-channels.js';
import { warn } from './warning.js';

/** A text of each library that no bundler and no minifier changes. */
const TEXTS: Readonly<Partial<Record<InjectedName, string>>> = {
  amqplib: 'Channel ended, no reply will be forthcoming',
  bullmq: 'Missing lock for job',
  express4: '.prototype.handle_request',
  'generic-pool': 'Resource not currently part of this pool',
  graphql16: 'dropped long-deprecated support for positional arguments',
  hono: 'Context is not finalized',
  kafkajs: 'KafkaJSNonRetriableError',
  knex: 'Knex: Timeout acquiring a connection',
  koa: 'Middleware must be composed of functions',
  mongodb: 'MongoTopologyClosedError',
  nest: 'RouterExecutionContext',
  pg: 'has encountered a connection error and is not queryable',
  'socket.io': 'ignore packet received after disconnection',
  ws: 'WebSocket was closed before the connection was established',
};

/** What keeps a library out of a bundle, if it is not called as its package. */
const PACKAGES: Readonly<Partial<Record<InjectedName, string>>> = {
  express4: 'express',
  graphql16: 'graphql',
  nest: '@nestjs/core',
};

const warned = shared('node.bundled', () => new Set<string>());

/** Says once what of a bundle is not recorded: it has neither the files of the libraries nor channels. */
export function warnOfBundled(names: readonly InjectedName[], content: string, path: string): void {
  const found = names.filter((name) => {
    const text = TEXTS[name];
    return text !== undefined && !warned.has(name) && content.includes(text);
  });
  if (found.length === 0) return;
  for (const name of found) warned.add(name);
  const packages = found.map((name) => PACKAGES[name] ?? name);
  warn(
    `${packages.join(', ')} ${found.length === 1 ? 'is' : 'are'} not traced: ${path} is a bundle that contains ` +
      `${found.length === 1 ? 'it' : 'them'}; leave ${found.length === 1 ? 'it' : 'them'} out: ` +
      packages.map((name) => `--external:${name}`).join(' '),
  );
}

/** The same of a program that may be an ES module. */
export function warnOfBundledProgram(names: readonly InjectedName[], path: string): void {
  try {
    if (statSync(path).isFile()) warnOfBundled(names, readFileSync(path, 'utf8'), path);
  } catch {
    // It cannot be read, or is no file.
  }
}
