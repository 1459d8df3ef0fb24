// Preloaded into a service: OpenTelemetry's SDK and auto-instrumentations, with spans that go nowhere. The packages
// are those of the working directory. With BENCH_SPANS it counts spans, and writes their number there at the end.

const { writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');

const packages = createRequire(`${process.cwd()}/package.json`);
const { NodeSDK } = packages('@opentelemetry/sdk-node');
const { getNodeAutoInstrumentations } = packages('@opentelemetry/auto-instrumentations-node');

const file = process.env.BENCH_SPANS;
let count = 0;
/** As little as an exporter can do. */
const exporter = {
  export(spans, done) {
    count += spans.length;
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve(),
};
const sdk = new NodeSDK({
  resourceDetectors: [],
  traceExporter: exporter,
  instrumentations: [getNodeAutoInstrumentations()],
});
sdk.start();
// An import of the program sees what is patched now.
require('node:http');

// Of Fastify the instrumentations have none of its current version: the handler is a span of the program's own.
if (process.env.BENCH_HANDLER !== undefined) {
  const tracer = packages('@opentelemetry/api').trace.getTracer('bench');
  globalThis.recordHandler = (handler) => (request) =>
    tracer.startActiveSpan('handler', async (span) => {
      try {
        return await handler(request);
      } finally {
        span.end();
      }
    });
}

if (file !== undefined) {
  process.once('beforeExit', async () => {
    await sdk.shutdown();
    writeFileSync(file, String(count));
  });
}
