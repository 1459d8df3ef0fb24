// Fastify, Hono and h3 mounted in Express: their routes have the pattern of the mount.
import express from 'express';
import fastify from 'fastify';
import { getRequestListener } from '@hono/node-server';
import { createApp, createRouter, eventHandler, toNodeListener, useBase } from 'h3';
import { Hono } from 'hono';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /fastify/:version 404
server GET /fastify/:version/users/:id 200
  own fastify 1
server GET /h3/deep/users/:id 200
  own h3 4
server GET /h3/users/:id 200
  own h3 3
server GET /hono/users/:id 200
  own hono 2
`;
export const difference = 'OpenTelemetry has no routes of Fastify, Hono and h3 in Express.';

export async function run() {
  const app = express();

  const inner = fastify();
  inner.get('/users/:id', async ({ params }) => own(`fastify ${params.id}`) ?? 'ok');
  await inner.ready();
  app.use('/fastify/:version', (request, response) => inner.routing(request, response));

  const hono = new Hono();
  hono.get('/users/:id', (context) => {
    own(`hono ${context.req.param('id')}`);
    return context.text('ok');
  });
  app.use('/hono', getRequestListener(hono.fetch));

  const answer = eventHandler((event) => {
    own(`h3 ${event.context.params.id}`);
    return 'ok';
  });
  const deep = createRouter().get('/users/:id', answer);
  const h3 = createApp();
  h3.use(createRouter().get('/users/:id', answer).use('/deep/**', useBase('/deep', deep.handler)));
  app.use('/h3', toNodeListener(h3));

  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/fastify/v1/users/1`);
  await ask(`${url}/fastify/v1/none`);
  await ask(`${url}/hono/users/2`);
  await ask(`${url}/h3/users/3`);
  await ask(`${url}/h3/deep/users/4`);
}
