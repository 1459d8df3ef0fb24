// The body is read within a span of the program: Node emits from the connection, so its listeners are below the
// request. What waits for a promise is below the span.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own read the body
    own after the end
`;

export async function run() {
  const url = await listen(
    createServer(async (request, response) => {
      await own('read the body', async () => {
        request.resume();
        await once(request, 'end');
        own('after the end');
      });
      response.end();
    }),
  );
  await ask(url, { method: 'POST', body: 'small' });
}
