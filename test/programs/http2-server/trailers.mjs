// Both sides send trailers.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server 200
  server POST (no route) 200
    own trailers of the request
    own wantTrailers
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer((request, response) => {
    request.on('data', () => {});
    request.stream.on('trailers', () => own('trailers of the request'));
    request.on('end', () => {
      response.addTrailers({ 'x-sum': '6' });
      response.stream.on('wantTrailers', () => own('wantTrailers'));
      response.end('done');
    });
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':method': 'POST', ':path': '/' }, { waitForTrailers: true });
  sent.on('wantTrailers', () => sent.sendTrailers({ 'x-sum': '3' }));
  sent.end('abc');
  await once(sent.resume(), 'close');
  client.close();
}
