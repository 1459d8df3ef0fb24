// LoopBack with PostgreSQL: what is asked before the first connection waits for it.
import { createRequire } from 'node:module';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own request 1
  client postgresql SELECT
  own found 1
own request 2
  client postgresql SELECT
  own found 2
`;
export const difference =
  'OpenTelemetry has what waits below nothing, or below what connects. The request that asked is right.';

const require = createRequire(import.meta.url);

export async function run() {
  const { DataSource } = require('loopback-datasource-juggler');
  const source = new DataSource({
    connector: require('loopback-connector-postgresql'),
    host: '127.0.0.1',
    user: 'postgres',
    database: 'test',
    max: 1,
  });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await new Promise((resolve) => {
        source.connector.execute(`SELECT ${n}`, [], {}, resolve);
      });
      own(`found ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await source.disconnect();
}
