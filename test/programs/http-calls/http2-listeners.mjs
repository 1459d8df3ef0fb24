// HTTP/2: two callers on one session; listeners run below their caller.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
own first
  client GET stock 200
    server GET (no route) 200
  own first data
  own first end
own second
  client GET stock 200
    server GET (no route) 200
  own second data
  own second end
`;
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2.';
export const nodes = 22;

export async function run() {
  const server = createServer((_, response) => response.end('3'));
  const session = connect(await listen(server, 'stock'));
  for (const name of ['first', 'second']) {
    await own(name, async () => {
      const sent = session.request({ ':path': '/items' });
      sent.once('data', () => own(`${name} data`));
      sent.once('end', () => own(`${name} end`));
      await once(sent, 'close');
    });
  }
  session.close();
  await once(session, 'close');
}
