// A service that answers with the headers of a request to itself. OpenTelemetry's SDK may be in it.
if (process.env.TRACEWRIGHT_TEST_SDK === 'started') {
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
  const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
  const { InMemorySpanExporter } = require('@opentelemetry/sdk-trace-base');
  new NodeSDK({
    traceExporter: new InMemorySpanExporter(),
    instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()],
  }).start();
}
const { createServer } = require('node:http');

const server = createServer(async (request, response) => {
  if (request.url === '/inner') {
    response.end(JSON.stringify(request.headers));
    return;
  }
  const inner = await fetch(`http://127.0.0.1:${server.address().port}/inner`);
  response.end(await inner.text());
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${server.address().port}\n`));
