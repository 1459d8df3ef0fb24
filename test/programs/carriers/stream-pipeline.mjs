// A pipeline of a request runs below it: generator, transform and sink.
import { createServer } from 'node:http';
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own read
  own transform
  own write
`;

export async function run() {
  const url = await listen(
    createServer(async (_, response) => {
      await pipeline(
        Readable.from(
          (async function* () {
            own('read');
            yield 'a';
          })(),
        ),
        new Transform({
          transform(chunk, _encoding, done) {
            own('transform');
            setImmediate(done, null, chunk);
          },
        }),
        new Writable({
          write(_chunk, _encoding, done) {
            own('write');
            done();
          },
        }),
      );
      response.end();
    }),
  );
  await ask(url);
}
