// A handler rejects, and `captureRejections` has Node answer with 500.
import events from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 500 !500
  own handler
`;

export async function run() {
  events.captureRejections = true;
  const server = createServer(async () => {
    await sleep(1);
    own('handler');
    throw new Error('a fault');
  });
  await ask(await listen(server));
}
