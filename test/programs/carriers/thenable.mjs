// `then` of an object that a request awaits runs below the request, and so does what follows it.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own after
  own then
`;

export async function run() {
  const query = {
    then(resolve) {
      own('then');
      setImmediate(resolve, 'rows');
    },
  };
  const url = await listen(
    createServer(async (_, response) => {
      await query;
      own('after');
      response.end();
    }),
  );
  await ask(url);
}
