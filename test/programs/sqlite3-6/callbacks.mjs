// sqlite3 has callbacks alone, which its addon calls: what follows is below their caller.
import sqlite3 from 'sqlite3';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own all 1
  own each 1
  own exec 1
  own failed 1
  own finalized 1
  own get 1
  own map 1
  own prepared 1
  own row 1
  own row 1
  own run 1
own request 2
  own all 2
  own each 2
  own exec 2
  own failed 2
  own finalized 2
  own get 2
  own map 2
  own prepared 2
  own row 2
  own row 2
  own run 2
`;
export const difference = 'OpenTelemetry has callbacks below nobody. Each is its caller’s.';

export async function run() {
  const database = new sqlite3.Database(':memory:');
  const request = (n) =>
    own(`request ${n}`, async () => {
      const call = (name, on, method, ...given) =>
        new Promise((resolve) => {
          on[method](...given, () => {
            own(`${name} ${n}`);
            resolve();
          });
        });
      await call('exec', database, 'exec', 'CREATE TABLE IF NOT EXISTS orders (id int)');
      await call('run', database, 'run', 'INSERT INTO orders VALUES (?)', [n]);
      await call('get', database, 'get', 'SELECT * FROM orders WHERE id = ?', n);
      await call('failed', database, 'all', 'SELECT nothing');
      await call('each', database, 'each', 'SELECT 1 UNION SELECT 2', () => own(`row ${n}`));
      await call('map', database, 'map', 'SELECT 1, 2');
      const statement = database.prepare('SELECT ?', () => own(`prepared ${n}`));
      await call('all', statement, 'all', n);
      await call('finalized', statement, 'finalize');
    });
  await Promise.all([request(1), request(2)]);
  await new Promise((resolve) => database.close(resolve));
}
