// The connection is lost while two requests are open.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server -
  server POST (no route) - !aborted
    own aborted POST
    own close of POST
client PUT server -
  server PUT (no route) - !aborted
    own aborted PUT
    own close of PUT
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const closed = [];
  const server = createServer((request, response) => {
    closed.push(once(response, 'close'));
    request.on('aborted', () => own(`aborted ${request.method}`));
    response.on('close', () => own(`close of ${request.method}`));
    response.stream.additionalHeaders({ ':status': 102 });
  });
  const client = connect(await listen(server));
  client.on('error', () => {});
  const sent = ['POST', 'PUT'].map((method) => client.request({ ':method': method, ':path': '/' }));
  for (const each of sent) each.on('error', () => {});
  await Promise.all(sent.map((each) => once(each, 'headers')));
  client.destroy();
  await Promise.all(closed);
}
