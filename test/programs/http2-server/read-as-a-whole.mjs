// A handler reads the body with `for await` and answers through `pipeline`.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server 200
  server POST (no route) 200
    own answered
    own read small
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    own(`read ${text}`);
    await pipeline(Readable.from(['a', 'b']), response);
    own('answered');
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':method': 'POST', ':path': '/' });
  sent.end('small');
  await once(sent.resume(), 'close');
  client.close();
}
