// The body goes through a transform into a stream of the program, by `pipeline`.
import { createServer } from 'node:http';
import { pipeline, Transform, Writable } from 'node:stream';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own done
  own final
  own transform
  own write
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      const upper = new Transform({
        transform(chunk, _, done) {
          own('transform');
          done(null, String(chunk).toUpperCase());
        },
      });
      const into = new Writable({
        write(_chunk, _, done) {
          own('write');
          done();
        },
        final(done) {
          own('final');
          done();
        },
      });
      pipeline(request, upper, into, () => {
        own('done');
        response.end();
      });
    }),
  );
  await ask(url, { method: 'POST', body: 'small' });
}
