// Answers with status 103 and 100 come before the answer: by node:http, fetch and HTTP/2.
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect, createServer as createServer2 } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 200
    server GET (no route) 200
  client GET stock 200
    server GET (no route) 200
  client GET stock2 200
    server GET (no route) 200
  own hints of http
`;
export const difference = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const handle = (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' });
    setImmediate(() => response.end('3'));
  };
  const stock = await listen(createServer(handle), 'stock');
  const stock2 = await listen(createServer2(handle), 'stock2');
  await own('caller', async () => {
    const sent = get(stock);
    sent.once('information', () => own('hints of http'));
    const [answer] = await once(sent, 'response');
    await answer.toArray();
    await (await fetch(stock)).text();
    const session = connect(stock2);
    await session.request({ ':path': '/' }).resume().toArray();
    session.close();
  });
}
