// lmdb runs the functions of several requests in one transaction: what each does is below its caller.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own in a transaction 1
  own written 1
own request 2
  own in a transaction 2
  own written 2
`;
export const difference = 'OpenTelemetry has the functions below nobody. Each is its caller’s.';

export async function run() {
  const database = open({ path: mkdtempSync(join(tmpdir(), 'tracewright-lmdb-')) });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await database.transaction(() => {
        own(`in a transaction ${n}`);
        database.put(`key ${n}`, n);
      });
      own(`written ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await database.close();
}
