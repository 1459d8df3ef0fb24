// Routes with wildcards and optional parts: their text is the route.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /download/* 200
server GET /download/* 200
server GET /reports/:year/:month? 200
`;

export async function run() {
  const app = express();
  app.get('/download/*', (_, response) => response.end());
  app.get('/reports/:year/:month?', (_, response) => response.end());
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/download/a', '/download/b/c', '/reports/2026']) await ask(url + path);
}
