// A Fastify service that is killed, as the kernel kills what takes too much memory.
import { drive, library } from './program.mjs';

const app = library('fastify').fastify();
app.get('/pictures/:id', () => new Promise((resolve) => setTimeout(resolve, 200, 'picture')));
await app.ready();
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 25_000);
drive(app.server, ['/pictures/1']);
