// Jobs that the program and a request have scheduled: each run is a trace of its own.
import { createServer } from 'node:http';
import { Cron } from 'croner';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
consumer croner * * * * * *
  own scheduled by a request
consumer croner * * * * * *
  own scheduled by the program
server GET (no route) 200
`;
export const difference =
  'OpenTelemetry has no spans of jobs. What a request has scheduled is below that request.';

export async function run() {
  let ran = 0;
  const once = (name) =>
    new Cron('* * * * * *', { maxRuns: 1 }, () => {
      own(name);
      ran += 1;
    });
  once('scheduled by the program');
  const url = await listen(
    createServer((_, response) => {
      once('scheduled by a request');
      response.end();
    }),
  );
  await ask(url);
  await until(() => ran === 2);
}
