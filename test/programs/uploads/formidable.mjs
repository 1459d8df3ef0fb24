// An upload is parsed by formidable, which writes its file.
import formidable from 'formidable';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { multipart } from '../multipart.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own end of the form
  own file report
  own parsed a
`;

export async function run() {
  const server = createServer(async (request, response) => {
    const form = formidable();
    form.on('file', (name) => own(`file ${name}`));
    form.on('end', () => own('end of the form'));
    const [fields, files] = await form.parse(request);
    own(`parsed ${fields.title}`);
    for (const { filepath } of files.report) rmSync(filepath);
    response.end();
  });
  const { headers, body } = multipart({ title: 'a' }, { report: 'text' });
  await ask(await listen(server), { method: 'POST', headers, body });
}
