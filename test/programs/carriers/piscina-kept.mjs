// A task of piscina fails: the request that has given it is kept whole, and the one whose task does not is released.
import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';
import { context, propagation } from '@opentelemetry/api';
import Piscina from 'piscina';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own answered POST
  own task of POST !error
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export default function task({ method, headers }) {
  context.with(propagation.extract(context.active(), headers), () => {
    try {
      own(`task of ${method}`, () => {
        if (method === 'POST') throw new Error('task');
      });
    } catch {
      // The request goes on.
    }
  });
}

export async function run() {
  if (!isMainThread) return;
  const pool = new Piscina({ filename: import.meta.url, maxThreads: 1 });
  const url = await listen(
    createServer(async ({ method }, response) => {
      const headers = {};
      propagation.inject(context.active(), headers);
      await pool.run({ method, headers });
      own(`answered ${method}`);
      response.end();
    }),
  );
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
  // An idle worker of piscina runs no timers: it asks for what is released with its next task.
  const answered = performance.now();
  await until(() => performance.now() > answered + 50);
  await pool.run({ method: 'none', headers: {} });
  await pool.destroy();
}
