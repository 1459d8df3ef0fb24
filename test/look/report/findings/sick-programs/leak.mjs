// A Fastify service that keeps what it has answered.
import { drive, library } from './program.mjs';

const app = library('fastify').fastify();
const answers = [];
app.get('/answer', async () => {
  answers.push(new Array(40_000).fill(answers.length + 0.5));
  return Array.from({ length: 10_000 }, (_, at) => ({ at })).length;
});
await app.ready();
drive(app.server, ['/answer'], 20);
