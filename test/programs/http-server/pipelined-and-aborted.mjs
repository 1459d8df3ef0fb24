// The client leaves while the first of two pipelined requests is not answered.
import { createServer } from 'node:http';
import { listen, own, raw, until } from '../program.mjs';

export const expected = `
server GET (no route) - !aborted
  own aborted GET
  own close of GET
  own error of GET
server PUT (no route) - !aborted
  own aborted PUT
  own close of PUT
  own error of PUT
`;
export const difference =
  'OpenTelemetry has status 200 and no error, though nobody got an answer. Aborted is right.';

export async function run() {
  let closed = 0;
  const server = createServer((request, response) => {
    const { method } = request;
    request.on('aborted', () => own(`aborted ${method}`));
    request.on('error', () => own(`error of ${method}`));
    request.on('close', () => {
      own(`close of ${method}`);
      closed += 1;
    });
    if (method === 'GET') response.writeProcessing();
  });
  const url = await listen(server);
  const one = (method) => `${method} / HTTP/1.1\r\nHost: a\r\n\r\n`;
  await raw(url, [one('GET') + one('PUT'), null], { until: '102', reset: true });
  await until(() => closed === 2);
}
