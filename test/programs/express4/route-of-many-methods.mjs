// app.route and app.all: one route for several methods.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server DELETE (no route) 404
server GET /orders/:id 200
server POST /any/:thing 200
server PUT /any/:thing 200
server PUT /orders/:id 201
`;

export async function run() {
  const app = express();
  app
    .route('/orders/:id')
    .all((request, response, next) => next())
    .get((_, response) => response.end())
    .put((_, response) => response.status(201).end());
  app.all('/any/:thing', (_, response) => response.end());
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/orders/1`);
  await ask(`${url}/orders/1`, { method: 'PUT' });
  await ask(`${url}/any/2`, { method: 'PUT' });
  await ask(`${url}/any/2`, { method: 'POST' });
  await ask(`${url}/none`, { method: 'DELETE' });
}
