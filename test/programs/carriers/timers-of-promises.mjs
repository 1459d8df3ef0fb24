// Timers as promises, a wait of the scheduler, and a signal that several deadlines give: all below their request.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { scheduler, setInterval as ticks, setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own after GET
  own given up TimeoutError
  own ticked 2
  own waited
server POST (no route) 200
  own after POST
  own given up AbortError
  own ticked 2
  own waited
`;

export async function run() {
  const url = await listen(
    createServer(async ({ method }, response) => {
      let ticked = 0;
      for await (const each of ticks(1, 1)) {
        ticked += each;
        if (ticked === 2) break;
      }
      own(`ticked ${ticked}`);
      await scheduler.wait(1);
      own('waited');
      const leaving = new AbortController();
      const signal = AbortSignal.any([
        leaving.signal,
        AbortSignal.timeout(method === 'GET' ? 5 : 60_000),
      ]);
      if (method === 'POST') setTimeout(() => leaving.abort(), 2);
      // A timer of AbortSignal keeps no process alive.
      const alive = setTimeout(() => {}, 10_000);
      signal.addEventListener('abort', () => own(`given up ${signal.reason.name}`));
      await Promise.all([
        once(signal, 'abort'),
        sleep(60_000, undefined, { signal }).catch(() => {}),
      ]);
      clearTimeout(alive);
      own(`after ${method}`);
      response.end();
    }),
  );
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
}
