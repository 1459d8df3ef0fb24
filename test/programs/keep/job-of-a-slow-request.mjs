// A job that a kept request has sent is kept. What that job sends as further jobs is decided by itself.
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { own } from '../program.mjs';

export const expected = `
own request
  producer send
    consumer job
      producer send
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'slower:1s' };

const tracer = trace.getTracer('jobs');

function send(queue) {
  tracer.startActiveSpan('send', { kind: SpanKind.PRODUCER }, (span) => {
    const headers = {};
    propagation.inject(context.active(), headers);
    queue.push(headers);
    span.end();
  });
}

export async function run() {
  const queue = [];
  await own('request', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    send(queue);
  });
  for (let n = 0; n < 20; n++) {
    const parent = propagation.extract(context.active(), queue.shift());
    tracer.startActiveSpan('job', { kind: SpanKind.CONSUMER }, parent, (span) => {
      send(queue);
      span.end();
    });
  }
}
