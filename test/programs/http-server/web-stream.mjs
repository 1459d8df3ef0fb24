// The body is read as a web stream and its reader.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own end
  own part
`;

export async function run() {
  const url = await listen(
    createServer(async (request, response) => {
      const reader = Readable.toWeb(request).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) own('part');
      own('end');
      response.end();
    }),
  );
  await ask(url, { method: 'POST', body: 'small' });
}
