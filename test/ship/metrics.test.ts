import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/ship/metrics-server.js';
import { SpanMetrics } from '../../src/ship/span-metrics.js';
import { configure, flush, shutdown } from '../../src/spans/recording.js';
import { startSpan } from '../../src/spans/start-span.js';
import { main, tracewright } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from '../spans/span-trace.js';
import { needsPrometheus, startPrometheus } from './prometheus.js';
import { Receiver } from './receiver.js';

const directory = temporaryDirectory();
const children: ChildProcess[] = [];
let runs = 0;

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts the command, and returns the URL of its metrics. */
async function shipWithMetrics(traces: string, to: string, ...args: string[]): Promise<string> {
  const checkpoint = join(directory, `${++runs}.json`);
  const options = ['--to', to, '--checkpoint', checkpoint, '--metrics', '127.0.0.1:0', ...args];
  const child = spawn(process.execPath, [main, 'ship', traces, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  let text = '';
  for await (const chunk of child.stderr.setEncoding('utf8')) {
    text += chunk as string;
    const [, url] = /metrics at (http:\S+)\n/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(text);
}

async function textOf(url: string, accept = 'text/plain'): Promise<string> {
  return (await fetch(url, { headers: { accept } })).text();
}

/** Requests of a service of two routes, and what it would have written to its log. */
async function recordRequests(traces: string): Promise<void> {
  mkdirSync(traces);
  configure({ target: join(traces, 'shop.heph'), service: 'shop' });
  const start = 1_700_000_000_000;
  for (let i = 0; i < 30; i++) {
    const route = i < 10 ? '/pay' : '/';
    const request = startSpan('GET', { 'http.route': route }, { kind: 'server', startTime: start });
    startSpan('inner').end();
    if (i === 0) request.fail(new Error('refused'));
    request.end(start + (i < 10 ? 300 : 20));
  }
  await flush();
}

describe('metrics of ship', { timeout: 60_000 }, () => {
  it('has requests, errors and durations as they were recorded, each once', async () => {
    const receiver = await new Receiver().listen();
    // The first attempts fail: spans are sent again.
    let attempts = 0;
    receiver.answer = () => ({
      status: ++attempts < 3 ? 503 : 200,
      headers: { 'retry-after': '0' },
    });
    const traces = join(directory, 'requests');
    await recordRequests(traces);
    try {
      const url = await shipWithMetrics(traces, receiver.url, '--span-metrics');
      await expect
        .poll(() => textOf(url), { timeout: 20_000 })
        .toContain(`tracewright_ship_spans_total{target="${receiver.url}/v1/traces"} 60\n`);
      const text = await textOf(url);
      const pay = 'service="shop",http_request_method="",http_route="/pay",status_class=""';
      expect(text).toContain(`http_server_request_duration_seconds_bucket{${pay},le="0.25"} 0\n`);
      expect(text).toContain(`http_server_request_duration_seconds_bucket{${pay},le="0.5"} 10\n`);
      expect(text).toContain(`http_server_request_duration_seconds_bucket{${pay},le="+Inf"} 10\n`);
      expect(text).toContain(`http_server_request_duration_seconds_count{${pay}} 10\n`);
      expect(text).toContain(
        `http_server_request_duration_seconds_count{${pay.replace('/pay', '/')}} 20\n`,
      );
      expect(text).toContain(`tracewright_http_server_request_errors_total{${pay}} 1\n`);
      expect(text).toMatch(/tracewright_ship_retries_total\{[^}]*\} [1-9]/);
      expect(text).not.toContain('trace_id');
      const open = await textOf(url, 'application/openmetrics-text; version=1.0.0');
      expect(open).toMatch(/le="0.5"\} 10 # \{trace_id="[0-9a-f]{32}"\} 0.3 1700000000.3\n/);
      expect(open).toMatch(/# EOF\n$/);
      expect(await textOf(new URL('/healthz', url).href)).toBe('ok\n');
    } finally {
      await shutdown();
      await receiver.close();
    }
  });

  it('is not well while a target is late', async () => {
    const traces = join(directory, 'late');
    await recordRequests(traces);
    await shutdown();
    const url = await shipWithMetrics(traces, 'http://127.0.0.1:1', '--most-lag', '1');
    const health = new URL('/healthz', url).href;
    await expect.poll(async () => (await fetch(health)).status, { timeout: 20_000 }).toBe(503);
    expect(await textOf(health)).toMatch(/^http:\/\/127.0.0.1:1\/v1\/traces is \d+ s late: /);
    expect(await textOf(url)).toContain(
      'tracewright_ship_up{target="http://127.0.0.1:1/v1/traces"} 0\n',
    );
  });

  it('answers others while clients send nothing, or something else', async () => {
    const traces = join(directory, 'hostile');
    mkdirSync(traces);
    const url = await shipWithMetrics(traces, 'http://127.0.0.1:1');
    const { port } = new URL(url);
    const sent = [
      '',
      'GET /metrics HTTP/1.1\r\nA:',
      `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}`,
      '\0\xff\r\n\r\n',
    ];
    const sockets = sent.map((bytes) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(bytes);
      return { socket, closed: new Promise((resolve) => socket.on('close', resolve)) };
    });
    expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(405);
    expect((await fetch(new URL('/etc/passwd', url))).status).toBe(404);
    for (const { socket } of sockets) socket.resume();
    // None keeps its connection.
    await Promise.all(sockets.map(({ closed }) => closed));
    expect((await fetch(url)).status).toBe(200);
  });

  it('is scraped by Prometheus', async (context) => {
    needsPrometheus(context);
    const traces = join(directory, 'scraped');
    await recordRequests(traces);
    await shutdown();
    const url = await shipWithMetrics(traces, 'http://127.0.0.1:1', '--span-metrics');
    const { child, ask } = await startPrometheus(directory, new URL(url).host);
    children.push(child);
    const query = 'http_server_request_duration_seconds_count{http_route="/pay"}';
    const sum = async (): Promise<number> =>
      (await ask(query)).reduce((all, { value }) => all + value, 0);
    await expect.poll(sum, { timeout: 40_000 }).toBe(10);
  });

  it('has a bounded number of routes, and leaves out what its process left open', async () => {
    const [span] = await recorded(directory, () => {
      startSpan('GET', {}, { kind: 'server' }).end();
    });
    const metrics = new SpanMetrics();
    for (let i = 0; i < 3000; i++) {
      metrics.add({ ...span!, attributes: { 'http.route': `/${i}` } });
    }
    metrics.add({ ...span!, unfinished: true });
    const routes = [...metrics.families].flatMap(([, series]) => [...series]);
    expect(routes.length).toBeLessThanOrEqual(1002);
    expect(routes.reduce((sum, { count }) => sum + count, 0)).toBe(3000);
    expect(routes.reduce((sum, { unfinished }) => sum + unfinished, 0)).toBe(1);
  });

  it('says what is wrong', () => {
    expect(parseAddress('9464')).toEqual({ host: '127.0.0.1', port: 9464 });
    expect(parseAddress('[::1]:9464')).toEqual({ host: '::1', port: 9464 });
    expect(() => parseAddress('x:99999')).toThrow('--metrics must be HOST:PORT');
    const { status, stderr } = tracewright(
      'ship',
      directory,
      '--once',
      '--span-metrics',
      '--checkpoint',
      join(directory, 'c.json'),
    );
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('--span-metrics needs --metrics'),
    ]);
    expect(tracewright('ship', directory, '--metrics-only', '--to', 'http://x').stderr).toContain(
      '--metrics-only sends nothing: no --to',
    );
  });

  // What is to be kept holds for all later targets of the process: so it comes last.
  it('counts requests that were not kept: the figures are those of the log', async () => {
    const receiver = await new Receiver().listen();
    let attempts = 0;
    // It has the first ones, and does not say so: spans are sent again.
    receiver.answer = () => ({ status: 200, cut: ++attempts < 3 });
    const traces = join(directory, 'kept');
    mkdirSync(traces);
    const keep = { errors: true, slowerThan: 500, limit: false as const, ratio: 0.05 };
    configure({ target: join(traces, 'shop.heph'), service: 'shop', keep });
    const log = new Map<string, { requests: number; errors: number; ms: number; slow: number }>();
    const start = Date.now() - 60_000;
    for (let i = 0; i < 3000; i++) {
      const route = ['/', '/pay', '/orders/:id'][i % 3]!;
      const ms = i % 50 === 0 ? 700 : 1 + (i % 40);
      const failed = i % 70 === 0;
      const options = { kind: 'server', parent: null, startTime: start + i } as const;
      const attributes = { 'http.request.method': 'GET', 'http.route': route };
      const request = startSpan(`GET ${route}`, attributes, options);
      startSpan('query', {}, { parent: request }).end();
      if (failed) request.fail(new Error('refused'));
      request.end(start + i + ms);
      const line = log.get(route) ?? { requests: 0, errors: 0, ms: 0, slow: 0 };
      line.requests++;
      line.ms += ms;
      if (failed) line.errors++;
      if (ms > 500) line.slow++;
      log.set(route, line);
    }
    await shutdown();
    try {
      const url = await shipWithMetrics(traces, receiver.url, '--span-metrics');
      await expect
        .poll(() => textOf(url), { timeout: 20_000 })
        .toMatch(/tracewright_ship_spans_total\{[^}]*\} [1-9]/);
      const text = await textOf(url);
      for (const [route, { requests, errors, ms, slow }] of log) {
        const labels = `{service="shop",http_request_method="GET",http_route="${route}",status_class=""`;
        const name = 'http_server_request_duration_seconds';
        expect(text).toContain(`${name}_count${labels}} ${requests}\n`);
        expect(text).toContain(`${name}_bucket${labels},le="+Inf"} ${requests}\n`);
        expect(text).toContain(`${name}_bucket${labels},le="0.5"} ${requests - slow}\n`);
        expect(text).toContain(
          `tracewright_http_server_request_errors_total${labels}} ${errors}\n`,
        );
        const [, sum] = text.split(`${name}_sum${labels}} `);
        expect(Number.parseFloat(sum!)).toBeCloseTo(ms / 1000, 6);
      }
      const kept = new Set(receiver.ids);
      // Of most requests there is no span, and some arrived more than once.
      expect(kept.size).toBeLessThan(1500);
      expect(receiver.ids.length).toBeGreaterThan(kept.size);
    } finally {
      await receiver.close();
    }
  });
});
