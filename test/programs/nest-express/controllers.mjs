// Controllers of Nest on Express with a global prefix: routes have the prefix, and handlers run below them.
import 'reflect-metadata';
import { Controller, Get, Module, NotFoundException, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /api/cats/:id 200
  own find 7
server GET /api/cats/:id 404
server POST /api/cats 201
`;

export async function run() {
  class Cats {
    async find(id) {
      if (id === 'none') throw new NotFoundException();
      return own(`find ${id}`, async () => ({ id }));
    }

    add() {
      return { id: 1 };
    }
  }
  // As decorators do it.
  const method = (name) => [
    Cats.prototype,
    name,
    Object.getOwnPropertyDescriptor(Cats.prototype, name),
  ];
  Controller('cats')(Cats);
  Get(':id')(...method('find'));
  Param('id')(Cats.prototype, 'find', 0);
  Post()(...method('add'));
  class Root {}
  Module({ controllers: [Cats] })(Root);
  const app = await NestFactory.create(Root, { logger: false });
  app.setGlobalPrefix('api');
  await app.listen(0, '127.0.0.1');
  const url = await listen(app.getHttpServer());
  for (const path of ['/api/cats/7', '/api/cats/none', '/api/dogs']) await ask(url + path);
  await ask(`${url}/api/cats`, { method: 'POST' });
  await app.close();
}
