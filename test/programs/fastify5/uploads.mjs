// @fastify/multipart: what reads the file, and what follows, is below the request.
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /files/:id 200
  own read 100000
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.register(multipart);
  app.post('/files/:id', async (request) => {
    const file = await request.file();
    const { length } = await file.toBuffer();
    own(`read ${length}`);
    return 'ok';
  });
  await app.ready();
  const url = await listen(app.server);
  const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"';
  const content = 'x'.repeat(100_000);
  const body = `--cut\r\n${part}\r\nContent-Type: text/plain\r\n\r\n${content}\r\n--cut--\r\n`;
  const headers = { 'content-type': 'multipart/form-data; boundary=cut' };
  await ask(`${url}/files/7`, { method: 'POST', headers, body });
}
