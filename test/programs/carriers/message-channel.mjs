// Ports that the program has opened serve two requests: listeners of a port run below who opened it, promises below who waits.
import { createServer } from 'node:http';
import { MessageChannel } from 'node:worker_threads';
import { ask, listen, own } from '../program.mjs';

export const expected = `
own asked
own asked
server GET (no route) 200
  own answered
server POST (no route) 200
  own answered
`;

export async function run() {
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port2.on('message', (value) => {
    own('asked');
    port2.postMessage(value);
  });
  port1.on('message', () => waiting.shift()());
  const url = await listen(
    createServer(async (_, response) => {
      await new Promise((resolve) => {
        waiting.push(resolve);
        port1.postMessage('question');
      });
      own('answered');
      response.end();
    }),
  );
  await ask(url);
  await ask(url, { method: 'POST' });
  port1.close();
}
