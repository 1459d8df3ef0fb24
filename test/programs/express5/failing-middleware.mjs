// A middleware refuses a request: the path of its mount is the route, if it has one.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 403
server GET /admin 401
`;

export async function run() {
  const fail = (status) => (request, response, next) =>
    next(Object.assign(new Error('refused'), { status }));
  const app = express();
  app.use('/admin', fail(401));
  app.use(fail(403));
  app.get('/pages/:name', (_, response) => response.end());
  app.use((error, _, response, next) => {
    if (response.headersSent) next(error);
    else response.status(error.status).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/admin/users`);
  await ask(`${url}/pages/a`);
}
