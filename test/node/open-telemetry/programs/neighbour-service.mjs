// A service that asks itself by node:http, by fetch and by node:http2. It prints how many headers each of these requests had.
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';

const counts = [];
const countParents = ({ rawHeaders }) => {
  const names = rawHeaders.filter((_, i) => i % 2 === 0);
  counts.push(names.filter((name) => name.toLowerCase() === 'traceparent').length);
};
const http2 = createHttp2Server((request, response) => {
  countParents(request);
  response.end('inner');
});
http2.listen(0, '127.0.0.1');
await once(http2, 'listening');
const session = connect(`http://127.0.0.1:${http2.address().port}`);
const server = createServer(async (request, response) => {
  if (request.url.startsWith('/inner')) {
    countParents(request);
    response.end('inner');
    return;
  }
  const origin = `http://127.0.0.1:${server.address().port}`;
  const [inner] = await once(get(`${origin}/inner-http`), 'response');
  await once(inner.resume(), 'end');
  await (await fetch(`${origin}/inner-fetch`)).text();
  await once(session.request({ ':path': '/inner-http2' }).resume(), 'close');
  response.end('outer');
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
process.once('SIGTERM', () => {
  console.log(`counts ${counts.join('')}`);
  process.exit(0);
});
