// 200 requests at once fill a small waiting ring of a process that is older than the limit: none of them is kept.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 500 !500
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = {
  TRACEWRIGHT_KEEP: 'slower:10s,errors',
  TRACEWRIGHT_WAITING_BYTES: '1048576',
};

export async function run() {
  const url = await listen(
    createServer(async (request, response) => {
      if (request.headers['x-fails']) response.statusCode = 500;
      else {
        for (let n = 0; n < 40; n++) own('part'.padEnd(200, 'x'));
        await sleep(200);
      }
      response.end();
    }),
  );
  await until(() => performance.now() > 10_500);
  await Promise.all(Array.from({ length: 200 }, () => ask(url)));
  await ask(url, { headers: { 'x-fails': '1' } });
}
