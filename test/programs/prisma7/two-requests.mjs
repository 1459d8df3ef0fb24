// Two requests at once: each query is below its own, and so is one that fails.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';
import { openPrisma } from './client.mjs';

export const needs = ['postgresql'];
export const expected = `
client postgresql CREATE
client postgresql CREATE
client postgresql DROP
client postgresql INSERT
server GET (no route) 200
  client postgresql SELECT
  own found 3
server POST (no route) 409
  client postgresql INSERT !23505
  own refused P2002
`;

export async function run() {
  const { users, close } = await openPrisma();
  const url = await listen(
    createServer(async ({ method }, response) => {
      if (method === 'GET') own(`found ${(await users.findMany()).length}`);
      else {
        const { code } = await users.create({ data: { id: 1, name: 'ada' } }).catch((e) => e);
        own(`refused ${code}`);
        response.statusCode = 409;
      }
      response.end();
    }),
  );
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
  await close();
}
