// A page is rendered by a template engine, which reads its file first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /pages/:name 200
  own rendered
server GET /pages/:name 500 !500
`;

export async function run() {
  const views = mkdtempSync(join(tmpdir(), 'views-'));
  writeFileSync(join(views, 'page.ejs'), 'Hello <%= name %>');
  const app = express();
  app.set('views', views);
  app.set('view engine', 'ejs');
  app.get('/pages/:name', ({ params: { name } }, response, next) => {
    response.render(name === 'none' ? 'none' : 'page', { name }, (error, html) => {
      if (error) {
        next(error);
        return;
      }
      own('rendered');
      response.send(html);
    });
  });
  app.use((error, _, response, next) => {
    if (response.headersSent) next(error);
    else response.status(500).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/pages/ada`);
  await ask(`${url}/pages/none`);
  rmSync(views, { recursive: true });
}
