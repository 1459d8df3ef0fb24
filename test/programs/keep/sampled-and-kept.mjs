// Head sampling comes first: a failed request that it does not record is not kept.
import { createServer } from 'node:http';
import { ask, listen } from '../program.mjs';

export const expected = `
`;
export const alone = 'OpenTelemetry keeps every trace that is sampled.';
export const environment = {
  TRACEWRIGHT_KEEP: 'errors',
  OTEL_TRACES_SAMPLER: 'traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0',
};

export async function run() {
  const url = await listen(
    createServer((_, response) => {
      response.statusCode = 500;
      response.end();
    }),
  );
  await ask(url);
}
