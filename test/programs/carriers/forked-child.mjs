// A child of fork gets ids in a message: its part is below the request.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { context, propagation } from '@opentelemetry/api';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own answered
  own part
`;
export const alone = 'The child would write the same file of spans as the program.';

if (process.argv[2] === 'child') {
  process.once('message', (headers) => {
    context.with(propagation.extract(context.active(), headers), () => own('part'));
    process.send('done', () => process.disconnect());
  });
}

export async function run() {
  const child = fork(fileURLToPath(import.meta.url), ['child']);
  const ended = once(child, 'exit');
  const url = await listen(
    createServer(async (_, response) => {
      const headers = {};
      propagation.inject(context.active(), headers);
      child.send(headers);
      await once(child, 'message');
      own('answered');
      response.end();
    }),
  );
  await ask(url);
  await ended;
}
