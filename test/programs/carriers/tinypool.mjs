// Tasks of tinypool in one thread: each answer comes to the request that has given the task.
import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';
import Tinypool from 'tinypool';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own answer of GET
server POST (no route) 200
  own answer of POST
`;
export const alone = "OpenTelemetry's SDK has to be started in each worker by the program.";

export default function task(method) {
  return `answer of ${method}`;
}

export async function run() {
  if (!isMainThread) return;
  const pool = new Tinypool({ filename: import.meta.url, minThreads: 1, maxThreads: 1 });
  const url = await listen(
    createServer(async ({ method }, response) => {
      own(await pool.run(method));
      response.end();
    }),
  );
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
  await pool.destroy();
}
