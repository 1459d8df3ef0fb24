// AsyncResource.bind and runInAsyncScope bring a request's context to whoever calls them.
import { AsyncResource } from 'node:async_hooks';
import { createServer } from 'node:http';
import { ask, listen, own, outside } from '../program.mjs';

export const expected = `
own unbound
server GET (no route) 200
  own bound
  own in scope
`;

export async function run() {
  const tasks = [];
  const url = await listen(
    createServer((_, response) => {
      const resource = new AsyncResource('task');
      tasks.push(AsyncResource.bind(() => own('bound')));
      tasks.push(() => resource.runInAsyncScope(own, undefined, 'in scope'));
      tasks.push(() => own('unbound'));
      response.end();
    }),
  );
  await ask(url);
  outside(() => {
    for (const task of tasks) task();
  });
}
