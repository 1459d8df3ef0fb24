// An interactive transaction, and a list of queries as one, of two requests at once.
import { own } from '../program.mjs';
import { openPrisma } from './client.mjs';

export const needs = ['postgresql'];
export const expected = `
client postgresql CREATE
client postgresql CREATE
client postgresql DROP
client postgresql INSERT
own request 1
  client postgresql BEGIN
  client postgresql ROLLBACK
  client postgresql SELECT
  client postgresql UPDATE
  own after 1
  own found ada
own request 2
  client postgresql BEGIN
  client postgresql COMMIT
  client postgresql SELECT
  client postgresql SELECT
  own after 2
`;

export async function run() {
  const { client, users, close } = await openPrisma();
  await Promise.all([
    own('request 1', async () => {
      await client
        .$transaction(async (transaction) => {
          const { name } = await transaction.programs_user.findFirst({ where: { id: 1 } });
          own(`found ${name}`);
          await transaction.programs_user.updateMany({ data: { name: 'eve' } });
          throw new Error('no');
        })
        .catch(() => {});
      own('after 1');
    }),
    own('request 2', async () => {
      await client.$transaction([users.count(), users.findMany()]);
      own('after 2');
    }),
  ]);
  await close();
}
