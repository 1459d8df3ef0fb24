// formidable calls back, and its file goes to a stream of the program.
import formidable from 'formidable';
import { createServer } from 'node:http';
import { Writable } from 'node:stream';
import { multipart } from '../multipart.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own parsed null
  own store
`;

export async function run() {
  const server = createServer((request, response) => {
    const form = formidable({
      fileWriteStreamHandler: () =>
        new Writable({
          write(_chunk, _, done) {
            own('store');
            done();
          },
        }),
    });
    form.parse(request, (error) => {
      own(`parsed ${error}`);
      response.end();
    });
  });
  const { headers, body } = multipart({}, { report: 'text' });
  await ask(await listen(server), { method: 'POST', headers, body });
}
