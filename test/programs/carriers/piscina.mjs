// Tasks of piscina that carry ids: each is below the request that has given it.
import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';
import { context, propagation } from '@opentelemetry/api';
import Piscina from 'piscina';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own task of GET
server POST (no route) 200
  own task of POST
`;
export const alone = "OpenTelemetry's SDK has to be started in each worker by the program.";

export default function task({ method, headers }) {
  context.with(propagation.extract(context.active(), headers), () => own(`task of ${method}`));
}

export async function run() {
  if (!isMainThread) return;
  const pool = new Piscina({ filename: import.meta.url, maxThreads: 1 });
  const url = await listen(
    createServer(async ({ method }, response) => {
      const headers = {};
      propagation.inject(context.active(), headers);
      await pool.run({ method, headers });
      response.end();
    }),
  );
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
  await pool.destroy();
}
