// The word of a caller that is not trusted counts neither here nor in what is called: by HTTP/1 and HTTP/2.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createServer2 } from 'node:http2';
import { ask, listen, otherProcess, own } from '../program.mjs';

export const expected = `
(remote) server GET (no route) 500 !500
  client GET stock 200
  own sent no word
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors', TRACEWRIGHT_TRUST: 'none' };

export async function run() {
  const stock = await otherProcess('stock');
  const handle = async (request, response) => {
    const { tracestate = '' } = await (await fetch(stock)).json();
    own(`sent ${/keep/.test(tracestate) ? 'the word' : 'no word'}`);
    response.statusCode = request.headers['x-fails'] === undefined ? 200 : 500;
    response.end();
  };
  const url = await listen(createServer(handle));
  const second = await listen(createServer2(handle));
  const parent = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const time = Date.now() + 4000;
  for (const tracestate of [
    `tracewright=keep:${time}`,
    'tracewright=keep',
    `tracewright=${parent}-keep:${time}`,
  ]) {
    const headers = { traceparent: `00-${parent}`, tracestate };
    await ask(url, { headers });
    const session = connect(second);
    const stream = session.request(headers);
    stream.resume();
    await once(stream, 'close');
    session.close();
  }
  const headers = { traceparent: `00-${parent}`, tracestate: `tracewright=keep:${time}` };
  await ask(url, { headers: { ...headers, 'x-fails': '1' } });
}
