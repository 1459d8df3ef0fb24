// @fastify/static below a prefix: its wildcard is the route of all files.
import { fileURLToPath } from 'node:url';
import files from '@fastify/static';
import Fastify from 'fastify';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /public/* 200
server GET /public/* 404
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.register(files, { root: fileURLToPath(new URL('.', import.meta.url)), prefix: '/public' });
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/public/static-files.mjs`);
  await ask(`${url}/public/none.js`);
}
