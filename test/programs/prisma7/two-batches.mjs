// Queries of two models in one turn of the loop: two batches of one each, below who asked.
import { own } from '../program.mjs';
import { openPrisma } from './client.mjs';

export const needs = ['postgresql'];
export const difference =
  'OpenTelemetry has each query of a turn below whoever asked first, without links. A query of several has a link to each, a query of one is below it.';
export const expected = `
client postgresql CREATE
client postgresql CREATE
client postgresql DROP
client postgresql INSERT
own request 1
  client postgresql SELECT
  own found ada
own request 2
  client postgresql SELECT
  own found 2
`;

export async function run() {
  const { users, close } = await openPrisma();
  await Promise.all([
    own('request 1', async () => {
      const { name } = await users.findUnique({ where: { id: 1 } });
      own(`found ${name}`);
    }),
    own('request 2', async () => {
      const { id } = await users.findUnique({ where: { id: 2 }, select: { id: true } });
      own(`found ${id}`);
    }),
  ]);
  await close();
}
