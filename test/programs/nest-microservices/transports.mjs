// A client of Nest's microservices: what follows an answer in rxjs is below the request that sent the message.
import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { firstValueFrom, tap } from 'rxjs';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own of RMQ request 1
  own after 1
  own tapped 1
  producer rabbitmq orders
    consumer rabbitmq orders
      producer rabbitmq (temporary)
        consumer rabbitmq (temporary)
own of RMQ request 2
  own after 2
  own tapped 2
  producer rabbitmq orders
    consumer rabbitmq orders
      producer rabbitmq (temporary)
        consumer rabbitmq (temporary)
own of TCP request 1
  own after 1
  own tapped 1
own of TCP request 2
  own after 2
  own tapped 2
`;
export const difference =
  'OpenTelemetry has the second answer below the request that opened the connection. The request that asked is right.';

const HIGHEST_PORT = 60_000;

class Orders {
  async count(n) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return n;
  }
}
MessagePattern('count')(
  Orders.prototype,
  'count',
  Object.getOwnPropertyDescriptor(Orders.prototype, 'count'),
);
Controller()(Orders);
class Application {}
Module({ controllers: [Orders] })(Application);

async function useTransport(name, options) {
  const transport = Transport[name];
  const application = await NestFactory.createMicroservice(Application, {
    transport,
    options,
    logger: false,
  });
  await application.listen();
  let client;
  const request = (n) =>
    own(`of ${name} request ${n}`, async () => {
      client ??= ClientProxyFactory.create({ transport, options });
      await firstValueFrom(client.send('count', n).pipe(tap(() => own(`tapped ${n}`))));
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await client.close();
  await application.close();
}

export async function run() {
  await useTransport('TCP', { port: HIGHEST_PORT - (process.pid % 10_000) });
  await useTransport('RMQ', {
    urls: ['amqp://127.0.0.1'],
    queue: 'orders',
    queueOptions: { durable: false, autoDelete: true },
  });
}
