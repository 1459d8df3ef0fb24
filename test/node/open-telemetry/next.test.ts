import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, requestsOf } from '../written-traces.js';
import { dependencies, install, place, recordedIn, treeOf } from './installed.js';

const files = ['app', 'next.config.mjs'];
const bin = join(place ?? '', 'node_modules', 'next', 'dist', 'bin', 'next');
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Builds the application, unless an earlier run has. */
function build(name: string, instrumentation?: string): string {
  const directory = install(name, [], dependencies('next'));
  const programs = fileURLToPath(new URL('programs/', import.meta.url));
  for (const file of files) {
    cpSync(join(programs, 'next', file), join(directory, file), { recursive: true });
  }
  if (instrumentation !== undefined) {
    cpSync(join(programs, instrumentation), join(directory, 'instrumentation.js'));
  }
  if (existsSync(join(directory, '.next', 'BUILD_ID'))) return directory;
  const { status, stderr } = spawnSync(process.execPath, [bin, 'build'], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' },
  });
  if (status !== 0) throw new Error(stderr);
  return directory;
}

describe.skipIf(place === undefined)("Next.js' production server", { timeout: 600_000 }, () => {
  const received: string[] = [];
  const upstream = createServer((request, response) => {
    const { traceparent } = request.headers as { traceparent?: string };
    received.push(traceparent ?? '');
    response.end('answer');
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    upstream.close();
  });

  async function serve(directory: string, env: Record<string, string> = {}) {
    const service = new TracedProcess(bin, {
      args: ['start', '-p', '0', '-H', '127.0.0.1'],
      cwd: directory,
      env: {
        NEXT_TELEMETRY_DISABLED: '1',
        TRACEWRIGHT_CONTEXT: 'on',
        UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
        ...env,
      },
    });
    const [, port] = await service.printed(/http:\/\/127\.0\.0\.1:(\d+)/);
    await service.printed(/Ready/);
    received.length = 0;
    const response = await fetch(`http://127.0.0.1:${port}/users/7`, {
      headers: { traceparent: CALLER },
    });
    expect(await response.text()).toContain('user 7: answer');
    return service;
  }

  it('has its spans below the request that the hook records', async () => {
    const service = await serve(build('next'));
    service.kill('SIGTERM');
    await service.ended();
    expect(faultsOf(service.directory)).toEqual([]);
    const spans = await recordedIn(service.directory);
    const ofRequest = spans.filter(({ traceId }) => CALLER.includes(traceId));
    const tree = treeOf(ofRequest, 'b7ad6b7169203331');
    expect(tree.slice(0, 2)).toEqual([
      'tracewright/register: GET /users/[id]',
      '  next.js: GET /users/[id]',
    ]);
    expect(tree.filter((line) => line.startsWith('  tracewright'))).toEqual([]);
    const [render] = ofRequest.filter(({ name }) => name === 'render route (app) /users/[id]');
    const below = treeOf(ofRequest, render!.spanId);
    expect(below).toContain(`next.js: fetch GET ${urlOf(upstream)}/upstream`);
    const call = ofRequest.find(({ kind, scope }) => kind === 'client' && isOurs(scope?.name))!;
    expect(ofRequest.find(({ spanId }) => spanId === call.parentSpanId)!.name).toMatch(/^fetch/);
    expect(received).toEqual([`00-${call.traceId}-${call.spanId}-01`]);
    // Everything of the request hangs together.
    expect(tree).toHaveLength(ofRequest.length);
  });

  it.each(['on', 'off'])('has its route without OpenTelemetry, context %s', async (context) => {
    const env = { TRACEWRIGHT_OTEL: 'off', TRACEWRIGHT_CONTEXT: context };
    const service = await serve(build('next'), env);
    service.kill('SIGTERM');
    await service.ended();
    expect(faultsOf(service.directory)).toEqual([]);
    expect(requestsOf(service.directory)).toContainEqual({
      method: 'GET',
      path: '/users/7',
      route: '/users/[id]',
      status: 200n,
    });
    const spans = await recordedIn(service.directory);
    expect(spans.filter(({ scope }) => scope?.name === 'next.js')).toEqual([]);
  });

  it('gives everything to @vercel/otel, in a bundle with the API', async () => {
    const service = await serve(build('next-vercel', 'next-instrumentation.js'));
    const theirs = await service.printed(/^theirs GET \/users\/\[id\]$/m);
    expect(theirs).not.toBeNull();
    service.kill('SIGTERM');
    const { stdout } = await service.ended();
    expect(stdout).toMatch(/^theirs render route \(app\) \/users\/\[id\]$/m);
    const spans = await recordedIn(service.directory);
    expect(spans.filter(({ scope }) => !isOurs(scope?.name))).toEqual([]);
    // Of theirs, or ours where they send none: never both.
    for (const header of received) expect(header).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-\d\d$/);
    expect(received).not.toEqual([]);
  });
});

const isOurs = (scope: string | undefined): boolean => scope === 'tracewright/register';

const urlOf = (server: { address(): unknown }): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
