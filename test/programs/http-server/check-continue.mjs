// The program decides itself about `Expect: 100-continue`, in `checkContinue`.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own checkContinue
  own data
  own end
`;
export const difference =
  'OpenTelemetry has no span for a request that checkContinue handles. It is a request as any other.';

export async function run() {
  const server = createServer();
  server.on('checkContinue', (request, response) => {
    own('checkContinue');
    response.writeContinue();
    request.once('data', () => own('data'));
    request.on('end', () => {
      own('end');
      response.end('done');
    });
  });
  const url = await listen(server);
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n';
  await raw(url, [head, null, '12345'], { until: 'done' });
}
