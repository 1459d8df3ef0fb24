// Nest on Fastify, as its tests call it: by inject.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { own } from '../program.mjs';

export const expected = `
server GET /orders/:id 200
  own order
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

class Orders {
  find() {
    own('order');
    return 'ok';
  }
}

export async function run() {
  Get(':id')(Orders.prototype, 'find', Object.getOwnPropertyDescriptor(Orders.prototype, 'find'));
  Controller('orders')(Orders);
  class App {}
  Module({ controllers: [Orders] })(App);
  const app = await NestFactory.create(App, new FastifyAdapter(), { logger: false });
  await app.init();
  await app.inject('/orders/7');
  await app.close();
}
