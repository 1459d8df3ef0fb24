// An upload is parsed by busboy: fields, files, and what runs when it is read.
import busboy from 'busboy';
import { createServer } from 'node:http';
import { multipart } from '../multipart.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own close of the form
  own end of report
  own field title
  own file report
`;

export async function run() {
  const server = createServer((request, response) => {
    const form = busboy({ headers: request.headers });
    form.on('field', (name) => own(`field ${name}`));
    form.on('file', (name, file) => {
      own(`file ${name}`);
      file.on('data', () => {});
      file.on('end', () => own(`end of ${name}`));
    });
    form.on('close', () => {
      own('close of the form');
      response.end();
    });
    request.pipe(form);
  });
  const { headers, body } = multipart({ title: 'a' }, { report: 'text' });
  await ask(await listen(server), { method: 'POST', headers, body });
}
