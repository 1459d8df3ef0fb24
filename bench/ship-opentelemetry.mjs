// CPU seconds of OpenTelemetry's exporter for a million spans, with spans that exist already: it encodes, and sends
// batches of 512, which is what its processor does unless it is set.
//
//   node bench/ship-opentelemetry.mjs URL COUNT none|gzip

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../scripts/package-layout.mjs';

const PACKAGES = {
  '@opentelemetry/api': '1.9.1',
  '@opentelemetry/exporter-trace-otlp-proto': '0.223.0',
};
const BATCH = 512;

const place = join(root, 'build', 'ship-otel');
if (!existsSync(join(place, 'node_modules'))) {
  mkdirSync(place, { recursive: true });
  const manifest = { private: true, dependencies: PACKAGES };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, { cwd: place, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm cannot install the packages');
}
const require = createRequire(join(place, 'package.json'));
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { BasicTracerProvider } = require('@opentelemetry/sdk-trace-base');

const [url, count, compression] = process.argv.slice(2);
const ended = [];
const provider = new BasicTracerProvider({
  spanProcessors: [
    {
      onStart: () => undefined,
      onEnd: (span) => ended.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  ],
});
const tracer = provider.getTracer('bench');
const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces`, compression });
let cpu = 0;
for (let done = 0; done < Number(count);) {
  ended.length = 0;
  for (let n = 0; n < 100 * BATCH; n++) {
    const attributes = { 'http.request.method': 'GET', n };
    tracer.startSpan('GET /orders/:id', { attributes }).end();
  }
  const before = process.cpuUsage();
  for (let from = 0; from < ended.length; from += BATCH) {
    const batch = ended.slice(from, from + BATCH);
    const { code, error } = await new Promise((resolve) => exporter.export(batch, resolve));
    if (code !== 0) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  cpu += user + system;
  done += ended.length;
  if (done >= Number(count)) console.log((cpu / done).toFixed(3));
}
await exporter.shutdown();
