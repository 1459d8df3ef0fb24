// A long poll that another request answers: what runs in the other's handler is below the other one.
import { createServer } from 'node:http';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 203
  own poll begins
server POST (no route) 200
  own publish
`;

export async function run() {
  const polls = [];
  const url = await listen(
    createServer(({ method }, response) => {
      if (method === 'GET') {
        own('poll begins');
        polls.push(response);
        return;
      }
      own('publish');
      for (const poll of polls.splice(0)) {
        poll.statusCode = 203;
        poll.end('news');
      }
      response.end();
    }),
  );
  const poll = ask(url);
  await until(() => polls.length === 1);
  await ask(url, { method: 'POST' });
  await poll;
}
