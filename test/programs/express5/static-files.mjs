// Static files below a path, and those that are not there.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /assets 200
server GET /assets 304
server HEAD /assets 200
`;
export const difference =
  'OpenTelemetry has the mount although its files only passed on. Nothing answers there.';

export async function run() {
  const app = express();
  app.use('/assets', express.static(import.meta.dirname));
  const url = await listen(app.listen(0, '127.0.0.1'));
  const { headers } = await ask(`${url}/assets/package.json`);
  await ask(`${url}/assets/package.json`, { headers: { 'if-none-match': headers.etag } });
  await ask(`${url}/assets/package.json`, { method: 'HEAD' });
  await ask(`${url}/assets/none.css`);
}
