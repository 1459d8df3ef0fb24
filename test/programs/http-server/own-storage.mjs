// An AsyncLocalStorage of the program sees what it sees without a tracer, in every listener.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own end
  own finish: answer
  own immediate: handler
`;

export async function run() {
  const storage = new AsyncLocalStorage();
  const seen = (where) => own(`${where}: ${storage.getStore()}`);
  const server = createServer((request, response) =>
    storage.run('handler', () => {
      response.writeProcessing();
      request.on('end', () => {
        own('end');
        response.on('finish', () => seen('finish'));
        storage.run('answer', () => response.end('done'));
      });
      request.resume();
      setImmediate(() => seen('immediate'));
    }),
  );
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n';
  await raw(await listen(server), [head, null, 'abc'], { until: 'done' });
}
