// The same by https: body, finish and close.
import { createServer } from 'node:https';
import { certificate } from '../certificate.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own close
  own data
  own end
  own finish
`;

export async function run() {
  const server = createServer(certificate, (request, response) => {
    request.once('data', () => own('data'));
    request.on('end', () => {
      own('end');
      response.end();
    });
    response.on('finish', () => own('finish'));
    response.on('close', () => own('close'));
  });
  const { port } = new URL(await listen(server));
  const url = `https://127.0.0.1:${port}`;
  await ask(url, { method: 'POST', body: 'small', insecure: true });
}
