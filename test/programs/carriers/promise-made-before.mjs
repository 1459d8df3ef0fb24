// A connection that was opened at the start is awaited by each request: what follows is below the request.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
own connect
server GET (no route) 200
  own connected
`;

export async function run() {
  const connection = new Promise((resolve) => setImmediate(resolve)).then(() => own('connect'));
  const url = await listen(
    createServer(async (_, response) => {
      await connection;
      own('connected');
      response.end();
    }),
  );
  await ask(url);
}
