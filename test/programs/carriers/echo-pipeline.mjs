// A request is compressed into its own answer: what each stage calls is below it, on a connection that is kept.
import { createServer } from 'node:http';
import { pipeline, Transform } from 'node:stream';
import { createGzip } from 'node:zlib';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server PATCH (no route) 200
  own done
  own first PATCH
  own last PATCH
server POST (no route) 200
  own done
  own first POST
  own last POST
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      const { method } = request;
      let isFirst = true;
      const watched = new Transform({
        transform(chunk, _, done) {
          if (isFirst) own(`first ${method}`);
          isFirst = false;
          done(null, chunk);
        },
        flush(done) {
          own(`last ${method}`);
          done();
        },
      });
      pipeline(request, watched, createGzip(), response, () => own('done'));
    }),
  );
  const body = 'x'.repeat(300_000);
  await ask(url, { method: 'POST', body, keepAlive: true });
  await ask(url, { method: 'PATCH', body, keepAlive: true });
}
