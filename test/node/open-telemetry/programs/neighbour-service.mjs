// A service that asks itself by node:http and by fetch. It prints how many headers each of these requests had.
import { once } from 'node:events';
import { createServer, get } from 'node:http';

const counts = [];
const server = createServer(async (request, response) => {
  if (request.url.startsWith('/inner')) {
    const names = request.rawHeaders.filter((_, i) => i % 2 === 0);
    counts.push(names.filter((name) => name.toLowerCase() === 'traceparent').length);
    response.end('inner');
    return;
  }
  const origin = `http://127.0.0.1:${server.address().port}`;
  const [inner] = await once(get(`${origin}/inner-http`), 'response');
  await once(inner.resume(), 'end');
  await (await fetch(`${origin}/inner-fetch`)).text();
  response.end('outer');
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
process.once('SIGTERM', () => {
  console.log(`counts ${counts.join('')}`);
  process.exit(0);
});
