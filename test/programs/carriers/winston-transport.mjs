// A transport of winston sends one line after the other: each is sent below the request that has logged it.
import { createServer } from 'node:http';
import winston from 'winston';
import Transport from 'winston-transport';
import { ask, listen, otherProcess, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  client POST logs 200
  client POST logs 200
  own formatted GET
  own formatted GET
server POST (no route) 200
  client POST logs 200
  client POST logs 200
  own formatted POST
  own formatted POST
`;
export const difference =
  'OpenTelemetry has the lines that wait below the request whose line was sent first. The request that logs is right.';

export async function run() {
  const logs = await otherProcess('logs');
  class Sender extends Transport {
    sent = 0;

    log({ message }, done) {
      fetch(logs, { method: 'POST', body: message })
        .then((response) => response.text())
        .then(() => {
          this.sent += 1;
          done();
        });
    }
  }
  const sender = new Sender();
  const told = winston.format((line) => {
    own(`formatted ${line.message}`);
    return { ...line };
  });
  const logger = winston.createLogger({
    format: winston.format.combine(told(), winston.format.json()),
    transports: [sender],
  });
  const child = logger.child({ part: 'orders' });
  const url = await listen(
    createServer(async ({ method }, response) => {
      logger.info(method);
      child.log('warn', method);
      const before = performance.now();
      while (sender.sent < 4 && performance.now() - before < 5000) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    }),
  );
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
}
