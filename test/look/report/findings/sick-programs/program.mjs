// What the sick programs share: their libraries, their database, a partner, and the way to who drives them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Loads a library of the directory in which the program runs. */
export const library = createRequire(join(process.cwd(), 'program.js'));

export const PG = { host: '127.0.0.1', user: 'postgres', database: 'postgres', password: 'secret' };

/**
 * Listens, and asks the driver for so many requests a second of each path, by so many users who wait for their answers;
 * null: by ever new ones. It disconnects when it has enough: then `stop` ends what goes on.
 */
export function drive(listener, paths, rate = 10, stop = () => undefined, users = null) {
  const server = typeof listener === 'function' ? createServer(listener) : listener;
  server.listen(0, '127.0.0.1', () =>
    process.send({ port: server.address().port, paths, rate, users }),
  );
  process.once('disconnect', async () => {
    await stop();
    process.exit();
  });
}

/** Another service, which is not traced: `answer` returns after how many ms it answers, and with which status. */
export async function partner(answer) {
  const child = spawn(process.execPath, ['-e', `(${serve})(${answer})`], {
    env: { ...process.env, TRACEWRIGHT_ENABLED: 'off' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.unref();
  const [port] = await once(child, 'message');
  child.channel.unref();
  return `http://127.0.0.1:${port}`;
}

/** In the process of the partner. Requests are counted from 0. */
function serve(answer) {
  let count = 0;
  const server = require('node:http').createServer((_, response) => {
    const [ms, status = 200] = answer(count++);
    setTimeout(() => response.writeHead(status).end('{}'), ms);
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.once('disconnect', () => process.exit());
}

/** Keeps the thread busy. */
export function work(ms) {
  for (const until = performance.now() + ms; performance.now() < until;);
}

/** How much of a work takes so many ms on this machine. */
export function amountFor(ms, perform) {
  for (let amount = 1000; ; amount *= 1.5) {
    const begin = performance.now();
    perform(Math.floor(amount));
    if (performance.now() - begin >= ms) return Math.floor(amount);
  }
}

/** A table of its own, and what removes it. */
export async function table(pool, columns) {
  const name = `sick_${process.pid}`;
  await pool.query(`CREATE UNLOGGED TABLE ${name} (${columns})`);
  return { name, drop: () => pool.query(`DROP TABLE ${name}`) };
}
