// A file of a megabyte is parsed by busboy while it comes.
import busboy from 'busboy';
import { createServer } from 'node:http';
import { multipart } from '../multipart.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own end of 1000000
  own first data
`;

export async function run() {
  const server = createServer((request, response) => {
    const form = busboy({ headers: request.headers });
    form.on('file', (_, file) => {
      let bytes = 0;
      file.once('data', () => own('first data'));
      file.on('data', (chunk) => (bytes += chunk.length));
      file.on('end', () => own(`end of ${bytes}`));
    });
    form.on('close', () => response.end());
    request.pipe(form);
  });
  const { headers, body } = multipart({}, { report: 'x'.repeat(1e6) });
  await ask(await listen(server), { method: 'POST', headers, body });
}
