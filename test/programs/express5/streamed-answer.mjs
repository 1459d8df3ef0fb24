// An answer is streamed through compression, and one is given up by the client.
import compression from 'compression';
import express from 'express';
import { ask, listen, until } from '../program.mjs';

export const expected = `
server GET /rows/:n 200
server GET /rows/:n 200 !aborted
`;
export const difference = 'OpenTelemetry sees no failure in an answer that the client gave up.';

export async function run() {
  const app = express();
  let closed = false;
  app.use(compression({ threshold: 0 }));
  app.get('/rows/:n', ({ params }, response) => {
    response.type('text');
    response.write('row\n');
    response.flush();
    response.on('close', () => (closed = true));
    if (params.n === '1') response.end('last\n');
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const headers = { 'accept-encoding': 'gzip' };
  await ask(`${url}/rows/1`, { headers });
  closed = false;
  await ask(`${url}/rows/0`, { headers, abortAfter: 'headers' }).catch(() => undefined);
  await until(() => closed);
}
