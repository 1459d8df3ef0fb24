// The client leaves while the handler works: what the program does then, and what the handler does later.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server GET (no route) - !aborted
  own after the close
  own close
`;
export const difference =
  'OpenTelemetry has status 200 and no error, though nobody got an answer. Aborted is right.';

export async function run() {
  let handled;
  const server = createServer((request, response) => {
    response.on('finish', () => own('finish'));
    response.on('close', () => own('close'));
    response.writeProcessing();
    handled = once(response, 'close').then(() => {
      own('after the close');
      response.end();
    });
  });
  const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  await raw(await listen(server), [head, null], { until: '102', reset: true });
  await handled;
}
