// A stream of node:stream from the body of fetch, on a kept connection: below its caller.
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own first
  client GET stock 200
  own first end
own second
  client GET stock 200
  own second end
`;

export async function run() {
  const url = await otherProcess('stock');
  for (const name of ['first', 'second']) {
    await own(name, async () => {
      const body = Readable.fromWeb((await fetch(url)).body).resume();
      body.once('end', () => own(`${name} end`));
      await once(body, 'close');
    });
  }
}
