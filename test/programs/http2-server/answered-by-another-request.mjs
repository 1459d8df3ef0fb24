// A request is answered by the handler of another one on the same connection.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client GET server 200
  server GET (no route) 200
    own close of GET
    own finish of GET
client POST server 200
  server POST (no route) 200
    own answer the other
    own close of POST
    own finish of POST
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  let waiting;
  const server = createServer(({ method }, response) => {
    response.on('finish', () => own(`finish of ${method}`));
    response.on('close', () => own(`close of ${method}`));
    if (method === 'GET') {
      waiting = response;
      response.stream.additionalHeaders({ ':status': 102 });
      return;
    }
    own('answer the other', () => waiting.end('news'));
    response.end();
  });
  const client = connect(await listen(server));
  const poll = client.request({ ':path': '/' });
  await once(poll, 'headers');
  const sent = client.request({ ':method': 'POST', ':path': '/' });
  sent.end();
  await Promise.all([once(poll.resume(), 'close'), once(sent.resume(), 'close')]);
  client.close();
}
