import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

const OF_SCRAPES = new Set(['__name__', 'job', 'instance']);
const PROMETHEUS = '/usr/bin/prometheus';

export function needsPrometheus(context: TestContext): void {
  if (!existsSync(PROMETHEUS)) {
    context.skip(`${PROMETHEUS} is not installed: apt-get install prometheus`);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** What Prometheus says of a query: its labels, but for those of the scrape, and its value. */
export type Answers = { labels: Record<string, string>; value: number }[];

/** Starts a Prometheus that scrapes `host` each second. */
export async function startPrometheus(
  directory: string,
  host: string,
): Promise<{ child: ChildProcess; ask: (query: string) => Promise<Answers> }> {
  const config = join(directory, 'prometheus.yml');
  writeFileSync(
    config,
    `scrape_configs: [{job_name: ship, scrape_interval: 1s, static_configs: [{targets: ['${host}']}]}]`,
  );
  const port = await freePort();
  const child = spawn(
    PROMETHEUS,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ask = async (query: string): Promise<Answers> => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`;
    const answer = await fetch(url).catch(() => undefined);
    const { data } = ((await answer?.json().catch(() => undefined)) ?? {
      data: { result: [] },
    }) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    return data.result.map(({ metric, value: [, value] }) => {
      const own = Object.entries(metric).filter(([name]) => !OF_SCRAPES.has(name));
      const labels = Object.fromEntries(own);
      return { labels, value: Number(value) };
    });
  };
  return { child, ask };
}
