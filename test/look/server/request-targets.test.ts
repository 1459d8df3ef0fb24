import { once } from 'node:events';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { routes, startViewServer } from '../../../src/look/server/view-server.js';
import type { ViewServer } from '../../../src/look/server/view-server.js';
import { TOKEN_HEADER } from '../../../src/look/wire/answers.js';
import { main } from '../../cli/run-command.js';
import { encodeEpoch } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan } from '../../export/span-file.js';

const directory = temporaryDirectory();

/** Targets that a client can send, which are no address of the page. */
const TARGETS = [
  '//[',
  '//',
  '///',
  '//host:99999/',
  '/\\[',
  '/%',
  '/%zz?%',
  '/data/row?row=%',
  '/data/table?where=%ff',
  '*',
  'http://[',
  'http://127.0.0.1:1/data/recording',
  'data/recording',
  '?',
  '/[',
  `/${'x'.repeat(8000)}`,
];
const VALUES = [
  '',
  '-1',
  '0',
  '1e308',
  'NaN',
  '99999999999999999999',
  '%',
  '[',
  'a=b',
  '\0',
  '0-3,7',
  '9-0',
];
const BODIES = [
  'null',
  '1',
  '"x"',
  '[]',
  '{',
  '',
  '{"before":1,"after":[]}',
  '{"before":[0],"after":[0],"where":{}}',
];

describe('what a client may ask', () => {
  let server: ViewServer;

  beforeAll(async () => {
    const path = writeTrace(
      directory,
      'trace.heph',
      encodeEpoch(1_700_000_000_000_000_000n),
      encodeSpan({ id: 1n, start: 1n, end: 100n }),
    );
    const index = await openLookIndex([path], { cache: false });
    server = await startViewServer({ index, pageDirectory: join(dirname(main), '../page') });
  });

  afterAll(() => server.close());

  /** The status of an answer to a target that is sent as it is. */
  async function statusOf(target: string, method = 'GET', body = ''): Promise<number> {
    const socket = connect(server.port, '127.0.0.1');
    const head = [
      `${method} ${target} HTTP/1.1`,
      'Host: 127.0.0.1',
      `${TOKEN_HEADER}: ${server.token}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    await once(socket, 'close');
    return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
  }

  it.each(TARGETS)('%s is refused', async (target) => {
    const status = await statusOf(target);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  it.each([...routes.values()])(
    '$path answers every value, and no error of the server',
    async (route) => {
      const names = [
        'row',
        'key',
        'from',
        'to',
        'width',
        'tracks',
        'where',
        'sort',
        'first',
        'count',
        'names',
        'rows',
        'columns',
        'slowest',
        'most',
        'counters',
        'budget',
        'screen',
        'lanes',
        'fold',
        'open',
      ];
      for (const value of VALUES) {
        const query = names.map((name) => `${name}=${encodeURIComponent(value)}`).join('&');
        expect([value, await statusOf(`${route.path}?${query}`, route.method, '{}')]).not.toContain(
          500,
        );
      }
      if (route.method !== 'POST') return;
      for (const body of BODIES) {
        expect([body, await statusOf(route.path, 'POST', body)]).not.toContain(500);
      }
    },
  );
});
