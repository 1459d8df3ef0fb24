// axios: an asynchronous interceptor of requests asks for a token, and one of answers repeats a refused request.
import axios from 'axios';
import { createServer } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own request 1
  client GET shop 200
    server GET (no route) 200
  client GET shop 429 !429
    server GET (no route) 429
  client POST shop 200
    server POST (no route) 200
  client POST shop 200
    server POST (no route) 200
  own after 200
own request 2
  client GET shop 200
    server GET (no route) 200
  client POST shop 200
    server POST (no route) 200
  own after 200
`;

export async function run() {
  let refused = 0;
  const shop = await listen(
    createServer((request, response) => {
      if (request.url === '/busy' && (refused += 1) === 1) response.writeHead(429);
      response.end('{}');
    }),
    'shop',
  );
  const client = axios.create({ baseURL: shop });
  client.interceptors.request.use(async (config) => {
    await axios.post(`${shop}/token`);
    return config;
  });
  client.interceptors.response.use(undefined, async (error) => {
    if (error.response?.status !== 429) throw error;
    await new Promise((resolve) => setTimeout(resolve, 2));
    return client(error.config);
  });
  const request = (n, path) =>
    own(`request ${n}`, async () => {
      const { status } = await client.get(path);
      own(`after ${status}`);
    });
  await Promise.all([request(1, '/busy'), request(2, '/free')]);
}
