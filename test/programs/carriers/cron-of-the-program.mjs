// Schedules: one that the program made runs below nobody, one that a request made runs below it.
import { createServer } from 'node:http';
import { Cron } from 'croner';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
own scheduled by the program
server GET (no route) 200
  own scheduled by a request
`;

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
