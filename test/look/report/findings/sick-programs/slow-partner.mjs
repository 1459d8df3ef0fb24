// A Fastify service whose partner takes long for one request in twelve.
import { drive, library, partner } from './program.mjs';

const rates = await partner((number) => [number % 12 === 5 ? 1500 : 8]);
const app = library('fastify').fastify();
app.get('/quote', async () => (await fetch(`${rates}/rates`)).json());
await app.ready();
drive(app.server, ['/quote']);
