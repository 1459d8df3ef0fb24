// A service that asks itself by node:http, by fetch and by node:http2. It prints how many headers each of these requests
// had, and what the agent has recorded.
const { once } = require('node:events');

exports.serve = async (http, http2) => {
  const counts = [];
  const countParents = ({ rawHeaders }) => {
    const names = rawHeaders.filter((_, i) => i % 2 === 0);
    counts.push(names.filter((name) => name.toLowerCase() === 'traceparent').length);
  };
  const other = http2.createServer((request, response) => {
    countParents(request);
    response.end('inner');
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const session = http2.connect(`http://127.0.0.1:${other.address().port}`);
  const server = http.createServer(async (request, response) => {
    if (request.url.startsWith('/inner')) {
      countParents(request);
      response.end('inner');
      return;
    }
    const origin = `http://127.0.0.1:${server.address().port}`;
    const [inner] = await once(http.get(`${origin}/inner-http`), 'response');
    await once(inner.resume(), 'end');
    await (await fetch(`${origin}/inner-fetch`)).text();
    await once(session.request({ ':path': '/inner-http2' }).resume(), 'close');
    response.end('outer');
  });
  server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
  process.once('SIGTERM', async () => {
    console.log(`counts ${counts.join('')}`);
    console.log(`theirs ${JSON.stringify((await globalThis.theirSpans?.()) ?? [])}`);
    process.exit(0);
  });
};
