// Sequelize with pg: a query and a transaction of two requests at once, on a pool of one connection.
import { Sequelize } from 'sequelize';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own open
  client postgresql SELECT
  client postgresql SELECT
  client postgresql SET
  client postgresql SET
own request 1
  client postgresql SELECT
own request 2
  client postgresql COMMIT
  client postgresql SELECT
  client postgresql START
`;
export const difference =
  'OpenTelemetry names statements with their semicolon or by another word. The tree is the same.';

export async function run() {
  const database = new Sequelize('test', 'postgres', '', {
    host: '127.0.0.1',
    dialect: 'postgres',
    logging: false,
    pool: { max: 1 },
  });
  await own('open', () => database.query('SELECT 1'));
  await Promise.all([
    own('request 1', () => database.query('SELECT 1')),
    own('request 2', () =>
      database.transaction((transaction) => database.query('SELECT 2', { transaction })),
    ),
  ]);
  await database.close();
}
