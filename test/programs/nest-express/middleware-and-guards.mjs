// Middleware for all routes, a guard that refuses, an interceptor and a filter of Nest.
import 'reflect-metadata';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { tap } from 'rxjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /cats/:id 200
  own after
  own before
server GET /cats/:id 403
server GET /cats/:id/boom 500 !500
`;

export async function run() {
  class Cats {
    find(id) {
      return { id };
    }

    boom() {
      throw new Error('boom');
    }
  }
  const method = (name) => [
    Cats.prototype,
    name,
    Object.getOwnPropertyDescriptor(Cats.prototype, name),
  ];
  Controller('cats')(Cats);
  Get(':id')(...method('find'));
  Param('id')(Cats.prototype, 'find', 0);
  Get(':id/boom')(...method('boom'));
  class Root {
    configure(consumer) {
      consumer.apply((request, response, next) => next()).forRoutes('{*path}');
    }
  }
  Module({ controllers: [Cats] })(Root);
  const app = await NestFactory.create(Root, { logger: false });
  app.useGlobalGuards({ canActivate: (at) => at.switchToHttp().getRequest().params.id !== '0' });
  app.useGlobalInterceptors({
    intercept(at, handler) {
      if (at.getHandler().name === 'find') own('before');
      return handler.handle().pipe(tap(() => own('after')));
    },
  });
  await app.listen(0, '127.0.0.1');
  const url = await listen(app.getHttpServer());
  for (const path of ['/cats/7', '/cats/0', '/cats/7/boom', '/dogs']) await ask(url + path);
  await app.close();
}
