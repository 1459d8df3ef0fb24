// A gateway and a service that have other rules: nothing is kept of what is in time, and all of what fails in both.
import { createServer } from 'node:http';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ask, listen, namePort, until } from '../program.mjs';

export const expected = `
server GET (no route) 500 !500
  client GET stock 500 !500
    server GET (no route) 500 !500
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'slower:3s,errors' };

if (process.argv[2] === 'stock') {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/fails' ? 500 : 200;
    response.end();
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.once('disconnect', () => process.exit());
}

export async function run() {
  const stock = fork(fileURLToPath(import.meta.url), ['stock'], {
    env: { ...process.env, TRACEWRIGHT_KEEP: 'errors', OTEL_SERVICE_NAME: 'stock' },
  });
  const [port] = await once(stock, 'message');
  namePort(port, 'stock');
  const url = await listen(
    createServer(async (request, response) => {
      const answer = await fetch(`http://127.0.0.1:${port}${request.url}`);
      await answer.text();
      response.statusCode = answer.status;
      response.end();
    }),
  );
  await until(() => performance.now() > 3200);
  for (let n = 0; n < 10; n++) await ask(url);
  await ask(`${url}/fails`);
  stock.disconnect();
  await once(stock, 'exit');
}
