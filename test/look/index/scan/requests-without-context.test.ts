import { expect, it } from 'vitest';
import type { Attribute } from '../../../../src/heph/packet.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../../heph/temporary-file.js';
import { textReport } from '../../../../src/look/report/text/text-report.js';
import { textStyle } from '../../../../src/look/report/text/text-style.js';
import { reportOn } from '../../report/recorded-service.js';
import { encodeSpan } from '../../export/span-file.js';

const directory = temporaryDirectory();
const text = (name: string, value: string): Attribute => ({ name, type: 'string', value });

/** As the register hook records a request without context. */
function request(
  description: string,
  path: string,
  status: number,
  more: Attribute[] = [],
): Buffer {
  return encodeEvent(
    someEvent({
      stream: 0,
      start: 1000n,
      end: 3000n,
      description,
      attributes: [
        text('http.request.method', 'GET'),
        text('url.path', path),
        { name: 'http.response.status_code', type: 'u64', value: BigInt(status) },
        ...more,
      ],
    }),
  );
}

it('requests without context are requests in a report, with their errors', async () => {
  const path = writeTrace(
    directory,
    'plain.heph',
    encodeEpoch(1_700_000_000_000_000_000n),
    request('request', '/orders', 200),
    request('request', '/orders', 404),
    request('request', '/fail', 500),
    request('http client', '/other', 200),
    request('fetch', '/other', 404, [text('error.type', '404')]),
    // One that was open when the process died has ids. It is unfinished, and a server's.
    encodeSpan({
      id: 5n,
      name: 'request',
      start: 2000n,
      end: 9000n,
      flags: 1n | (1n << 8n) | (1n << 13n),
      attributes: [text('http.request.method', 'GET'), text('url.path', '/hang')],
    }),
  );
  const groupsBy = async (by?: 'name') => {
    const { report } = await reportOn([path], by === undefined ? {} : { by });
    return [report.by, report.groups.map(({ name, count, errors }) => [name, count, errors])];
  };
  expect(await groupsBy()).toEqual([
    'route',
    expect.arrayContaining([
      ['GET /orders', 2, 0],
      ['GET /fail', 1, 1],
      ['GET /hang', 1, 0],
    ]),
  ]);
  const { report } = await reportOn([path]);
  expect(report.withoutContext).toEqual([path]);
  expect([...textReport(report, textStyle(200, false))].join(' ')).toContain(
    'was recorded without context: requests have no children',
  );
  const [, byName] = await groupsBy('name');
  expect(byName).toContainEqual(['GET /other', 2, 1]);
  expect((await groupsBy())[1]).toHaveLength(3);
});
