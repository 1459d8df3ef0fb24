// OpenTelemetry's SDK, with the instrumentations of what the program's folder depends on. Its spans go to a file of
// each thread in PROGRAM_SPANS.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const file = join(process.env.PROGRAM_SPANS, `${process.pid}-${threadId}.jsonl`);
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext();
      const { name, kind, attributes, links, status } = span;
      const record = {
        traceId,
        spanId,
        parentSpanId: span.parentSpanContext?.spanId,
        name,
        kind: ['internal', 'server', 'client', 'producer', 'consumer'][kind],
        attributes,
        links: links.length,
        failed: status.code === 2,
        scope: span.instrumentationScope.name,
      };
      appendFileSync(file, `${JSON.stringify(record)}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();

register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);

const folder = process.env.PROGRAM_FOLDER;
const manifest = join(folder, 'package.json');
const { dependencies = {} } = existsSync(manifest)
  ? JSON.parse(readFileSync(manifest, 'utf8'))
  : {};
const instrumentations = [new HttpInstrumentation(), new UndiciInstrumentation()];
for (const name of Object.keys(dependencies)) {
  if (!/^@opentelemetry\/instrumentation-|^@fastify\/otel$/.test(name)) continue;
  const found = Object.values(createRequire(join(folder, 'x.js'))(name)).find(
    (each) => typeof each === 'function' && /Instrumentation$/.test(each.name),
  );
  instrumentations.push(
    new found(name === '@fastify/otel' ? { registerOnInitialization: true } : {}),
  );
}
registerInstrumentations({ instrumentations, tracerProvider: provider });
