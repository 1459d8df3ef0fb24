// tRPC below a path of Express: the path is the route, whichever procedures are called.
import { initTRPC } from '@trpc/server';
import { createExpressMiddleware } from '@trpc/server/adapters/express';
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /trpc 200
  own find
server GET /trpc 404
server POST /trpc 200
  own add
`;

export async function run() {
  const t = initTRPC.create();
  const appRouter = t.router({
    find: t.procedure.query(() => own('find', async () => [1])),
    add: t.procedure.mutation(() => own('add', async () => 2)),
  });
  const app = express();
  app.use('/trpc', createExpressMiddleware({ router: appRouter }));
  const url = await listen(app.listen(0, '127.0.0.1'));
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/trpc/find`);
  await ask(`${url}/trpc/none`);
  await ask(`${url}/trpc/add`, { method: 'POST', headers, body: '{}' });
}
