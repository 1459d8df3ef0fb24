// A kept connection is idle until the server closes it: that is below no request.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
own close of the connection
own timeout
server GET (no route) 200
`;
export const difference =
  'OpenTelemetry has what happens on the idle connection below its last request, which is over.';

export async function run() {
  const server = createServer(
    { keepAliveTimeout: 10, keepAliveTimeoutBuffer: 10 },
    (request, response) => {
      response.end();
    },
  );
  server.on('connection', (socket) => {
    socket.on('timeout', () => own('timeout'));
    socket.on('close', () => own('close of the connection'));
  });
  const url = await listen(server);
  await raw(url, ['GET / HTTP/1.1\r\nHost: a\r\n\r\n']);
}
