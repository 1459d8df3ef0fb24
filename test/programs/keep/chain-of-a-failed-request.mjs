// Each job adds the next one, and one of thirty fails: that one alone is kept.
import { context, propagation } from '@opentelemetry/api';
import { own, until } from '../program.mjs';

export const expected = `
(remote) own job !error
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const queue = [{}];
  let done = 0;
  const worker = setInterval(() => {
    const headers = queue.shift();
    if (headers === undefined) return;
    done += 1;
    context.with(propagation.extract(context.active(), headers), () => {
      try {
        own('job', () => {
          const next = {};
          propagation.inject(context.active(), next);
          if (next.tracestate?.includes('keep')) throw new Error('sent keep');
          if (done < 30) queue.push(next);
          if (done === 3) throw new Error('once');
        });
      } catch (error) {
        if (error.message !== 'once') throw error;
      }
    });
  }, 1);
  await until(() => done === 30);
  clearInterval(worker);
}
