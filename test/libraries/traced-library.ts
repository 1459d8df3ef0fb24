import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readSpans } from '../../src/spans/index.js';
import type { SpanRecord } from '../../src/spans/index.js';
import { TracedProcess } from '../node/traced-process.js';
import type { Hook } from '../node/traced-process.js';
import { faultsOf, hephFiles } from '../node/written-traces.js';
import { installedPackages, versionOf } from './packages.js';
import type { Age } from './packages.js';

/** What a program with a library has left. */
export interface LibraryRun {
  spans: SpanRecord[];
  stdout: string;
  directory: string;
}

/**
 * Runs a fixture with one version of a library under the hook, to its end. It must print the version that it has
 * loaded, and warn of nothing.
 *
 * @param fixture without its suffix.
 * @param name of the library's package.
 */
export async function runLibrary(
  fixture: string,
  age: Age,
  name: string,
  env: Record<string, string> = {},
  further: readonly string[] = [],
  hook: Hook = '--import',
): Promise<LibraryRun> {
  const place = await installedPackages(age);
  return run(fixture, versionOf(age, name), env, [place, ...further], place, hook);
}

/** The same of a fixture that needs Node alone, whose version it prints. */
export function runScript(
  fixture: string,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<LibraryRun> {
  return run(fixture, process.version, env, args);
}

/** Also the functions of a framework that take no time are spans. */
export const EVERY_MIDDLEWARE = 'auto,express,express4,h3,hono,koa,srvx';

async function run(
  fixture: string,
  version: string,
  env: Record<string, string>,
  args: readonly string[],
  cwd?: string,
  hook: Hook = '--import',
): Promise<LibraryRun> {
  const script = new URL(`fixtures/${fixture}.mjs`, import.meta.url).href;
  const traced = new TracedProcess(script, {
    hook,
    args: [...args],
    env: {
      TRACEWRIGHT_CONTEXT: 'on',
      TRACEWRIGHT_LIBRARIES: EVERY_MIDDLEWARE,
      TRACEWRIGHT_ERROR_TEXT: 'off',
      ...env,
    },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { code, stdout, stderr } = await traced.ended();
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout.split('\n')[0]).toBe(`version ${version}`);
  expect(faultsOf(traced.directory)).toEqual([]);
  // Values, keys, bodies and messages of errors have this word in every fixture.
  if (env['TRACEWRIGHT_ERROR_TEXT'] === undefined) expectNothingOf('secret', traced.directory);
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(traced.directory))) spans.push(span);
  return { spans, stdout, directory: traced.directory };
}

/** Searches the bytes of everything that a run has left. */
export function expectNothingOf(secret: string, directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    expect(bytes.includes(secret), `${secret} in ${entry.name}`).toBe(false);
  }
}

/** The spans below one of that name, by their start: those of the libraries. */
export function below(spans: readonly SpanRecord[], name: string): SpanRecord[] {
  const parent = spans.find((span) => span.name === name);
  if (parent === undefined) throw new Error(`no span ${name}`);
  return childrenOf(spans, parent);
}

/** The request to a path. */
export function requestTo(spans: readonly SpanRecord[], path: string): SpanRecord {
  return spans.find(
    ({ kind, attributes }) => kind === 'server' && attributes['url.path'] === path,
  )!;
}

/** The children of a span, by their start. */
export function childrenOf(spans: readonly SpanRecord[], parent: SpanRecord): SpanRecord[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent.spanId)
    .sort((a, b) => (a.start < b.start ? -1 : 1));
}

/** A span and what is below it, as lines: an error's type follows the name. */
export function treeOf(spans: readonly SpanRecord[], parent: SpanRecord, depth = 0): string[] {
  return childrenOf(spans, parent).flatMap((span) => [
    `${'  '.repeat(depth)}${lineOf(span)}`,
    ...treeOf(spans, span, depth + 1),
  ]);
}

/** A span in short, such as `LPUSH: WRONGTYPE`. */
export function lineOf({ name, status, attributes }: SpanRecord): string {
  const failure = attributes['error.type'];
  const isFailed = status.code === 'error';
  expect(isFailed).toBe(failure !== undefined);
  return isFailed ? `${name}: ${String(failure)}` : name;
}

/** Every span within another one in time, as it is in a program that waits for all that it asks. */
export function expectWithin(spans: readonly SpanRecord[], outer: string): void {
  const parent = spans.find(({ name }) => name === outer)!;
  for (const span of below(spans, outer)) {
    expect(span.start).toBeGreaterThanOrEqual(parent.start);
    expect(span.end).toBeLessThanOrEqual(parent.end);
  }
}
