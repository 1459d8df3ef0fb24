import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { freePort, needsPrometheus, startPrometheus } from './prometheus.js';

const directory = temporaryDirectory();
const hook = new URL('../../dist/node/register.js', import.meta.url).href;
const program = fileURLToPath(new URL('fixtures/counting.mjs', import.meta.url));
const dashboard = fileURLToPath(new URL('../../docs/shipping/grafana.json', import.meta.url));
const children: ChildProcess[] = [];
const senders: number[] = [];

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const pid of senders) {
    try {
      process.kill(pid);
    } catch {
      // It has ended.
    }
  }
});

interface Service {
  child: ChildProcess;
  url: string;
  metrics: string;
  log: () => string;
}

/** Starts the service that counts itself, as if no test runner did. */
async function startService(cwd: string, address: string, env = {}): Promise<Service> {
  const environment = { ...process.env, VITEST: undefined, JEST_WORKER_ID: undefined };
  const child = spawn(process.execPath, ['--import', hook, program], {
    cwd,
    env: { ...environment, TRACEWRIGHT_METRICS: address, TRACEWRIGHT_STALL_MS: '50', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [port] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const [, pid] = /process (\d+) serves metrics/.exec(errors) ?? [];
  senders.push(Number(pid));
  const log = (): string => {
    const [run] = readdirSync(join(cwd, 'traces')).filter((each) => each.endsWith(`-${child.pid}`));
    return readFileSync(join(cwd, 'traces', run!, 'ship.log'), 'utf8');
  };
  const url = `http://127.0.0.1:${port.trim()}`;
  return { child, url, metrics: `http://${address}/metrics`, log };
}

async function ask(service: Service, path: string, method = 'GET'): Promise<string> {
  const answer = await fetch(service.url + path, { method, redirect: 'manual' });
  return answer.text();
}

async function metricsOf({ metrics }: Service): Promise<string> {
  const answer = await fetch(metrics).catch(() => undefined);
  return (await answer?.text()) ?? '';
}

describe('TRACEWRIGHT_METRICS', { timeout: 120_000 }, () => {
  it('has the counts of a service that counts itself, scraped by Prometheus', async (context) => {
    needsPrometheus(context);
    const cwd = mkdtempSync(join(directory, 'counted-'));
    const address = `127.0.0.1:${await freePort()}`;
    const service = await startService(cwd, address, { OTEL_SERVICE_NAME: 'shop' });
    const { child, ask: query } = await startPrometheus(cwd, address);
    children.push(child);
    for (let at = 0; at < 60; at++) {
      const kind = ['items', 'moved', 'missing', 'broken', 'jobs'][at % 5]!;
      await ask(service, `/${kind}/${at}`, at % 2 === 0 ? 'POST' : 'GET');
    }
    for (let at = 0; at < 3; at++) await ask(service, `/slow/${at}`);
    const counts = JSON.parse(await ask(service, '/counts')) as {
      requests: Record<string, number>;
      jobs: number;
      rss: number;
    };
    const requests = 'http_server_request_duration_seconds_count{http_route=~"/.+"}';
    await expect
      .poll(() => query(`sum(${requests})`), { timeout: 60_000 })
      .toEqual([{ labels: {}, value: 63 }]);
    const counted = Object.fromEntries(
      (await query(requests)).map(({ labels, value }) => {
        const { http_request_method, http_route, status_class, service: name, ...rest } = labels;
        expect([name, rest]).toEqual(['shop', {}]);
        return [`${http_request_method} ${http_route} ${status_class}`, value];
      }),
    );
    expect(counted).toEqual(counts.requests);
    expect(await query('tracewright_http_server_request_errors_total > 0')).toEqual(
      await query(`${requests.replace('}', ', status_class="5xx"}')} > 0`),
    );
    const mails = {
      messaging_destination_name: 'mails',
      messaging_system: 'bullmq',
      service: 'shop',
    };
    expect(await query('messaging_process_duration_seconds_count')).toEqual([
      { labels: mails, value: counts.jobs },
    ]);
    expect(await query('tracewright_messaging_process_errors_total')).toEqual([
      { labels: mails, value: 4 },
    ]);
    // A stall is recorded after it, and on a loaded machine there are others.
    const stalls = async (): Promise<number | undefined> =>
      (await query('sum(tracewright_eventloop_stall_seconds_count{service="shop"})'))[0]?.value;
    await expect.poll(stalls, { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
    const [stalled] = await query('sum(tracewright_eventloop_stall_seconds_sum)');
    expect(stalled!.value).toBeGreaterThan(0.24);
    const ofThread = { process_pid: String(service.child.pid), service: 'shop', thread: '0' };
    const [busy] = await query('nodejs_eventloop_time_seconds_total');
    expect(busy!.labels).toEqual(ofThread);
    expect(busy!.value).toBeGreaterThan(0.24);
    const [rss] = await query('process_memory_usage_bytes');
    expect(rss!.labels).toEqual(ofThread);
    expect(rss!.value / counts.rss).toBeCloseTo(1, 0);
    const [longest] = await query('max_over_time(nodejs_eventloop_delay_max_seconds[1m])');
    expect(longest!.value).toBeGreaterThan(0.08);
    // A dashboard that asks for what there is not would be empty.
    const { panels } = JSON.parse(readFileSync(dashboard, 'utf8')) as {
      panels: { title: string; targets?: { expr: string }[] }[];
    };
    const names = new Set((await metricsOf(service)).match(/^[a-z]\w+/gm));
    const asked = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(asked.length).toBeGreaterThan(8);
    const known = asked.flatMap((expr) => expr.match(/\b[a-z0-9]+_\w*(?=[{[])/g) ?? []);
    const absent = new Set(known.filter((name) => !names.has(name)));
    // Of what this service does not do.
    expect([...absent].filter((name) => !/^tracewright_pool/.test(name))).toEqual([]);
    for (const expr of asked) {
      const plain = expr.replaceAll('$service', '.*').replaceAll('$__rate_interval', '1m');
      const isOfOthers = /tracewright_pool/.test(expr);
      const isAnswered = async (): Promise<boolean> => (await query(plain)).length > 0;
      await expect.poll(isAnswered, { message: expr, timeout: 20_000 }).toBe(!isOfOthers);
    }
  });

  it('serves the next run when the process of the last one ends; nothing counts twice', async () => {
    const cwd = mkdtempSync(join(directory, 'restarted-'));
    const address = `127.0.0.1:${await freePort()}`;
    const first = await startService(cwd, address);
    await ask(first, '/items/1');
    const count = /^http_server_request_duration_seconds_count\{[^}]*items[^}]*\} (\d+)/m;
    await expect
      .poll(async () => count.exec(await metricsOf(first))?.[1], { timeout: 30_000 })
      .toBe('1');
    first.child.kill('SIGKILL');
    const second = await startService(cwd, address);
    await ask(second, '/items/1');
    await ask(second, '/items/2');
    await expect.poll(second.log, { timeout: 30_000 }).toContain('it is tried again every second');
    await expect
      .poll(async () => count.exec(await metricsOf(second))?.[1], { timeout: 60_000 })
      .toBe('2');
    expect(await metricsOf(second)).not.toContain('tracewright_ship_');
  });
});
