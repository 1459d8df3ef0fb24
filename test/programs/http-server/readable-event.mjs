// The body is read in a listener for `readable`.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own end
  own read small
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      request.on('readable', () => {
        const chunk = request.read();
        if (chunk !== null) own(`read ${chunk}`);
      });
      request.on('end', () => {
        own('end');
        response.end();
      });
    }),
  );
  await ask(url, { method: 'POST', body: 'small' });
}
