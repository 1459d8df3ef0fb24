// Prisma makes one query of the `findUnique` of one turn of the loop: it has a link to each who asked.
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
  client postgresql SELECT links:2
  own found ada
own request 2
  own found bob
`;

export async function run() {
  const { users, close } = await openPrisma();
  const request = (id) =>
    own(`request ${id}`, async () => {
      const { name } = await users.findUnique({ where: { id } });
      own(`found ${name}`);
    });
  await Promise.all([request(1), request(2)]);
  await close();
}
