// A Fastify service that reads keys of Redis one after the other.
import { drive, library } from './program.mjs';

const redis = new (library('ioredis').Redis)();
const app = library('fastify').fastify();
app.get('/friends', async () => {
  const names = [];
  for (let friend = 0; friend < 50; friend++) names.push(await redis.get(`friend:${friend}`));
  return names;
});
await app.ready();
drive(app.server, ['/friends']);
