// The handler reads the body with `for await`.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own after the body
  own chunk of 5
`;

export async function run() {
  const url = await listen(
    createServer(async (request, response) => {
      for await (const chunk of request) own(`chunk of ${chunk.length}`);
      own('after the body');
      response.end();
    }),
  );
  await ask(url, { method: 'POST', body: 'small' });
}
