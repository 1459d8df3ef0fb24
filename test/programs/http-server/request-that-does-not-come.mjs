// Node answers 408 to a request that does not come, to a server that began to listen within a span.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
own start
own timeout
`;
export const difference =
  'OpenTelemetry has the error below the start of the server: it is no part of that.';

export async function run() {
  const server = createServer(
    { connectionsCheckingInterval: 20, headersTimeout: 40, requestTimeout: 40 },
    (_, response) => response.end(),
  );
  server.on('clientError', (error, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return;
    own('timeout');
    socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n');
  });
  let url;
  await own('start', async () => {
    url = await listen(server);
  });
  await raw(url, ['GET / HTTP/1.1\r\nHost: ', null]);
}
