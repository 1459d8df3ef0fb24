// A small service that is traced by the hook and records traces of its own. Bundlers make a program of
// it; loaders run it as it is. It answers three requests of its own and ends.

import 'tracewright/register';
import { createServer } from 'node:http';
import * as ovni from 'tracewright/ovni';
import { openTrace } from 'tracewright/heph';

const trace = openTrace('own.heph');
const stream = trace.stream();
const work = stream.span('work', { request: 'u64' });

if (!ovni.threadIsReady()) throw new Error('the hook has no ovni stream here');
ovni.markType(7, 'phase', { stack: true });
ovni.markPush(7, 5);

let requests = 0;
const server = createServer((request, response) => {
  const timing = stream.startTrace();
  response.end('hello');
  work.finish(timing, ++requests);
});
server.listen(0, '127.0.0.1', async () => {
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/hello`);
    await response.text();
  }
  server.close();
  ovni.markPop(7, 5);
  await trace.close();
});
