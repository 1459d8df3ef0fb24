// RetryAgent repeats what a reset connection has cost; a redirect is followed by an interceptor. Each is a call of its own.
import { Agent, interceptors, request, RetryAgent } from 'undici';
import { createServer } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own redirected
  client GET stock 200
    server GET (no route) 200
  client GET stock 302
    server GET (no route) 302
  own after 200
own retried
  client GET stock - !UND_ERR_SOCKET
    server GET (no route) - !aborted
  client GET stock 200
    server GET (no route) 200
  own after 200
`;
export const difference = 'OpenTelemetry has a status that was never sent.';
export const nodes = 22;

export async function run() {
  let asked = 0;
  const stock = await listen(
    createServer((incoming, response) => {
      if (incoming.url === '/old') response.writeHead(302, { location: '/new' }).end();
      else if (incoming.url === '/flaky' && (asked += 1) === 1) incoming.socket.destroy();
      else response.end('3');
    }),
    'stock',
  );
  const call = (name, path, dispatcher) =>
    own(name, async () => {
      const { statusCode, body } = await request(stock + path, { dispatcher });
      await body.text();
      own(`after ${statusCode}`);
    });
  const agent = new Agent();
  const retry = { minTimeout: 1, errorCodes: ['UND_ERR_SOCKET', 'ECONNRESET'] };
  await call('retried', '/flaky', new RetryAgent(agent, retry));
  await call('redirected', '/old', agent.compose(interceptors.redirect({ maxRedirections: 1 })));
  await agent.close();
}
