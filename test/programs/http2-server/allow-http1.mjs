// A server of HTTP/2 that also takes HTTP/1.1, asked by the latter.
import { createSecureServer } from 'node:http2';
import { certificate } from '../certificate.mjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own data
  own end
  own finish
`;
export const alone =
  'OpenTelemetry does not see servers of node:http2, whatever they are asked by.';

export async function run() {
  const server = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
    request.once('data', () => own('data'));
    request.on('end', () => {
      own('end');
      response.end();
    });
    response.on('finish', () => own('finish'));
  });
  const { port } = new URL(await listen(server));
  await ask(`https://127.0.0.1:${port}`, { method: 'POST', body: 'small', insecure: true });
}
