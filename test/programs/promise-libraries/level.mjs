// The addon of level calls back: what follows is below its caller.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import level from 'level';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own deleted 1
  own got 1
  own put 1
  own row 1
own request 2
  own deleted 2
  own got 2
  own put 2
  own row 2
`;
export const difference = 'OpenTelemetry has callbacks below nobody. Each is its caller’s.';

export async function run() {
  const database = level(mkdtempSync(join(tmpdir(), 'tracewright-level-')));
  const request = (n) =>
    own(`request ${n}`, async () => {
      const call = (name, method, ...given) =>
        new Promise((resolve) => {
          database[method](...given, () => {
            own(`${name} ${n}`);
            resolve();
          });
        });
      await call('put', 'put', `key ${n}`, 'value');
      await call('got', 'get', `key ${n}`);
      await new Promise((resolve) => {
        database
          .createReadStream({ gte: `key ${n}`, lte: `key ${n}` })
          .on('data', () => own(`row ${n}`))
          .on('end', resolve);
      });
      await call('deleted', 'del', `key ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await database.close();
}
