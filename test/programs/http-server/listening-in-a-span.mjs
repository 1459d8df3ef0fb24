// A server begins to listen within a span: its requests are not below that.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
own connection
own start
  own listening
server POST (no route) 200
  own end
  own finish
`;
export const difference =
  'OpenTelemetry has the connection below the start of the server, for ever: it is no part of that.';

export async function run() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      own('end');
      response.end();
    });
    response.on('finish', () => own('finish'));
  });
  server.on('connection', () => own('connection'));
  let url;
  await own('start', async () => {
    server.once('listening', () => own('listening'));
    url = await listen(server);
  });
  await ask(url, { method: 'POST', body: 'small' });
}
