// Nest on Fastify: the prefix of the application, the controller and the handler.
import 'reflect-metadata';
import { Controller, Get, Module, NotFoundException, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /api/orders/:id 200
  own order
server GET /api/orders/missing/:id 404
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

class Orders {
  find(id) {
    own('order');
    return id;
  }

  miss() {
    throw new NotFoundException();
  }
}

function route(name, path) {
  const found = Object.getOwnPropertyDescriptor(Orders.prototype, name);
  Get(path)(Orders.prototype, name, found);
}

export async function run() {
  route('miss', 'missing/:id');
  route('find', ':id');
  Param('id')(Orders.prototype, 'find', 0);
  Controller('orders')(Orders);
  class App {}
  Module({ controllers: [Orders] })(App);
  const app = await NestFactory.create(App, new FastifyAdapter(), { logger: false });
  app.setGlobalPrefix('api');
  await app.listen(0, '127.0.0.1');
  const url = await listen(app.getHttpServer());
  for (const path of ['/api/orders/7', '/api/orders/missing/8', '/none']) await ask(url + path);
}
