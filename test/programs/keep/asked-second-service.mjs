// A request is slow before its call: the second service keeps its part, although it would not by its own rules.
import { createServer } from 'node:http';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ask, listen, namePort } from '../program.mjs';

export const expected = `
server GET (no route) 200
  client GET stock 200
    server GET (no route) 200
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'slower:100ms' };

if (process.argv[2] === 'stock') {
  const server = createServer((_, response) => response.end());
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
    createServer(async (_, response) => {
      await sleep(120);
      await (await fetch(`http://127.0.0.1:${port}/`)).text();
      response.end();
    }),
  );
  await ask(url);
  stock.disconnect();
  await once(stock, 'exit');
}
