// Preloaded into a service: OpenTelemetry's HTTP instrumentation, with spans that go nowhere.

import { createRequire } from 'node:module';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

let exported = 0;
const provider = new NodeTracerProvider({
  spanProcessors: [
    new BatchSpanProcessor({
      export(spans, done) {
        exported += spans.length;
        done({ code: 0 });
      },
      shutdown: () => Promise.resolve(),
    }),
  ],
});
provider.register();
registerInstrumentations({
  tracerProvider: provider,
  instrumentations: [new HttpInstrumentation()],
});
// The instrumentation patches what is required, and an import sees the patched module.
createRequire(import.meta.url)('node:http');
process.once('exit', () => {
  if (exported === 0) console.error('OpenTelemetry exported no span: it did not see the service');
});
