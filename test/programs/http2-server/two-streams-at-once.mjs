// Two requests share a connection, and their frames alternate.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server 200
  server POST (no route) 200
    own data of POST
    own end of POST
    own finish of POST
client PUT server 200
  server PUT (no route) 200
    own data of PUT
    own end of PUT
    own finish of PUT
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer((request, response) => {
    const { method } = request;
    response.stream.additionalHeaders({ ':status': 102 });
    request.on('data', () => own(`data of ${method}`));
    request.on('end', () => {
      own(`end of ${method}`);
      response.end();
    });
    response.on('finish', () => own(`finish of ${method}`));
  });
  const client = connect(await listen(server));
  const [post, put] = ['POST', 'PUT'].map((method) =>
    client.request({ ':method': method, ':path': '/' }),
  );
  await Promise.all([once(post, 'headers'), once(put, 'headers')]);
  post.write('1');
  put.write('1');
  put.end();
  post.end();
  await Promise.all([once(post.resume(), 'close'), once(put.resume(), 'close')]);
  client.close();
}
