import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

const OPEN = 14;
const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** A service that is killed with requests that it never answers, and one that it has answered. */
async function killed(env: Record<string, string>, how: NodeJS.Signals): Promise<string> {
  const service = new TracedProcess('context-service.mjs', { env });
  const port = await service.port();
  await service.get('/ids');
  await service.printed(/^done \/ids$/m);
  const sockets = Array.from({ length: OPEN }, (_, i) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`GET /hold?n=${i} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return socket;
  });
  await service.printed(new RegExp(`(?:^held\n){${OPEN}}`, 'm'));
  service.kill(how);
  await service.ended();
  for (const socket of sockets) socket.destroy();
  const [path] = hephFiles(service.directory).filter((name) => name.endsWith('.heph'));
  return path!;
}

async function unfinished(path: string): Promise<SpanRecord[]> {
  const found: SpanRecord[] = [];
  for await (const span of readSpans(path)) if (span.unfinished) found.push(span);
  return found;
}

describe('requests that are open when the process dies', () => {
  it.each([
    ['off', 'SIGKILL', {}],
    ['off', 'SIGTERM', {}],
    ['on', 'SIGKILL', {}],
    ['on', 'SIGTERM', {}],
    ['on, nothing sampled', 'SIGKILL', { OTEL_TRACES_SAMPLER: 'always_off' }],
  ] as const)(
    'with context %s, by %s, are unfinished spans',
    async (context, signal, variables) => {
      const path = await killed(
        { TRACEWRIGHT_CONTEXT: context.replace(/,.*/, ''), ...variables },
        signal,
      );
      if (signal === 'SIGKILL') {
        const args = [command, 'recover', path];
        const output = execFileSync(process.execPath, args, { encoding: 'utf8' });
        // The thread's own record, which is open too, is no span.
        expect(output).toContain(`${OPEN} spans were open when the process died`);
      }
      const spans = await unfinished(path);
      expect(spans).toHaveLength(OPEN);
      expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(OPEN);
      for (const { kind, attributes, start, end } of spans) {
        expect(kind).toBe('server');
        expect(attributes).toMatchObject({
          'http.request.method': 'GET',
          'url.path': '/hold',
          'http.route': '/:held',
        });
        expect(end).toBeGreaterThanOrEqual(start);
      }
    },
  );
  it.each(['off', 'on'])('are themselves in places of others, with context %s', async (context) => {
    const env = { TRACEWRIGHT_CONTEXT: context };
    const service = new TracedProcess('context-service.mjs', { env });
    const port = await service.port();
    const wanted: string[] = [];
    const sockets: Socket[] = [];
    const methods = ['GET', 'POST'];
    for (const [i, [before, method]] of methods
      .flatMap((one) => methods.map((other) => [one, other] as const))
      .entries()) {
      // A place is used again by the request after it, of the same method or of another one.
      for (let n = 0; n < 3; n++) {
        const url = `http://127.0.0.1:${port}/answered/in/place/${'x'.repeat(30 - n)}`;
        expect((await fetch(url, { method: before })).status).toBe(500);
      }
      const path = `/hold-${i}`;
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
      sockets.push(socket);
      await service.printed(new RegExp(`(?:held[^]*){${i + 1}}`));
      wanted.push(`${method} ${path}`);
    }
    service.kill('SIGKILL');
    await service.ended();
    for (const socket of sockets) socket.destroy();
    const [path] = hephFiles(service.directory).filter((name) => name.endsWith('.heph'));
    execFileSync(process.execPath, [command, 'recover', path!]);
    const spans = await unfinished(path!);
    const found = spans.map(
      ({ attributes }) =>
        `${String(attributes['http.request.method'])} ${String(attributes['url.path'])}`,
    );
    expect(found.sort()).toEqual(wanted.sort());
  });
});

describe('spans of the program under the hook', () => {
  it.each(['on', 'off'])('are recorded with context %s', async (context) => {
    const service = new TracedProcess('context-service.mjs', {
      env: { TRACEWRIGHT_CONTEXT: context },
    });
    await service.serve('/http');
    service.kill('SIGTERM');
    expect((await service.ended()).stderr).toBe('');
    const steps: SpanRecord[] = [];
    for await (const span of readSpans(join(service.directory, 'heph'))) {
      if (span.name === 'step') steps.push(span);
    }
    expect(steps).toHaveLength(1);
    expect(steps[0]!.attributes).toEqual({ n: 1 });
    expect(steps[0]!.parentSpanId !== undefined).toBe(context === 'on');
  });

  it('of another copy of the package are children of requests too', async () => {
    const service = new TracedProcess('second-copy.mjs', { env: { TRACEWRIGHT_CONTEXT: 'on' } });
    await service.serve('/');
    service.kill('SIGTERM');
    expect((await service.ended()).stderr).toBe('');
    const spans: SpanRecord[] = [];
    for await (const span of readSpans(join(service.directory, 'heph'))) spans.push(span);
    const request = spans.find(({ kind }) => kind === 'server')!;
    const step = spans.find(({ name }) => name === 'step')!;
    expect(step.parentSpanId).toBe(request.spanId);
    expect(step.traceId).toBe(request.traceId);
    expect(request.attributes['user']).toBe('u1');
  });
});
