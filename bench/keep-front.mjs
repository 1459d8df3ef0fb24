// The first of two services of bench/keep.mjs: it asks the second one, at the port of BENCH_BACK, for what it is asked.

import { Agent, get } from 'node:http';
import { serveLoad } from './loaded-service.mjs';

const port = Number(process.env.BENCH_BACK);
const agent = new Agent({ keepAlive: true });

serveLoad(({ url }, response) => {
  get({ host: '127.0.0.1', port, path: url, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
});
