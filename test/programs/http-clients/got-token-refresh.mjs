// got: a hook that asks again with a new token after a 401, and pages that follow each other.
import got from 'got';
import { createServer } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own pages
  client GET shop 200
    server GET (no route) 200
  client GET shop 200
    server GET (no route) 200
  own items 2
own refreshed
  client GET shop 200
    server GET (no route) 200
  client GET shop 401 !401
    server GET (no route) 401
  client POST shop 200
    server POST (no route) 200
  own after 200
`;

export async function run() {
  const shop = await listen(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url, 'http://a');
      if (pathname === '/secret' && request.headers.authorization !== 'new') {
        response.writeHead(401).end();
      } else if (pathname === '/items') {
        const page = Number(searchParams.get('page'));
        if (page === 1) response.setHeader('link', `<${shop}/items?page=2>; rel="next"`);
        response.end(JSON.stringify([page]));
      } else response.end('"ok"');
    }),
    'shop',
  );
  const refreshing = got.extend({
    retry: { limit: 1 },
    hooks: {
      afterResponse: [
        async (response, retryWithMergedOptions) => {
          if (response.statusCode !== 401) return response;
          await got.post(`${shop}/token`);
          return retryWithMergedOptions({ headers: { authorization: 'new' } });
        },
      ],
    },
  });
  await own('refreshed', async () => {
    const { statusCode } = await refreshing(`${shop}/secret`);
    own(`after ${statusCode}`);
  });
  await own('pages', async () => {
    const items = await got.paginate.all(`${shop}/items?page=1`, { responseType: 'json' });
    own(`items ${items.length}`);
  });
}
