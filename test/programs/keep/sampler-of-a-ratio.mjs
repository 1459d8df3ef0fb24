// OpenTelemetry's sampler chooses first, by the trace id. What it has chosen is kept if it fails.
import { createServer } from 'node:http';
import { ask, listen } from '../program.mjs';

export const expected = `
(remote) server GET (no route) 500 !500
`;
export const alone = 'OpenTelemetry keeps every trace that is sampled.';
export const environment = {
  TRACEWRIGHT_KEEP: 'errors',
  OTEL_TRACES_SAMPLER: 'traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.5',
};

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      response.statusCode = request.headers['x-fails'] === undefined ? 200 : 500;
      response.end();
    }),
  );
  for (const random of ['ff', '00']) {
    const traceparent = `00-${'1'.repeat(18)}${random.repeat(7)}-b7ad6b7169203331-01`;
    await ask(url, { headers: { traceparent } });
    await ask(url, { headers: { traceparent, 'x-fails': '1' } });
  }
}
