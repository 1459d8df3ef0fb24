import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attribute } from '../../../src/heph/packet.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { compareGroups } from '../../../src/look/compare/compare-groups.js';
import type { RecordingAnswer, RowAnswer, RowNamesAnswer } from '../../../src/look/wire/answers.js';
import { CLIENT, SERVER, service } from '../report/handmade-service.js';
import type { MadeSpan } from '../report/handmade-service.js';
import { Served } from './served.js';

function call(id: number, host: string): MadeSpan {
  const attributes: Attribute[] = [
    { name: 'server.address', type: 'string', value: host },
    { name: 'server.port', type: 'u64', value: 8080n },
  ];
  const at: [number, number] = [id, id + 1];
  return { id: BigInt(id), trace: BigInt(id), name: 'GET', flags: CLIENT, at, attributes };
}

/** Six calls of two services, with `POST` requests that have no route. */
function shop(): string {
  const request = (id: number): MadeSpan => {
    return { id: BigInt(id), trace: BigInt(id), name: 'POST', flags: SERVER, at: [id, id + 1] };
  };
  const calls = [1, 2, 3, 4, 5, 6].map((id) => call(id, id % 2 === 0 ? 'stock' : 'users'));
  const posts: MadeSpan[] = [7, 8].map((id) => ({ ...call(id, 'mail'), name: 'POST' }));
  return service('shop', [...calls, ...posts, request(9)]);
}

describe('calls that are named by their method', () => {
  const targets = ['stock:8080', 'users:8080'];
  let paths: string[];
  let served: Served;

  beforeAll(async () => {
    paths = [shop(), shop()];
    served = await Served.of(...paths);
  });
  afterAll(() => served.close());

  it('have their targets in the legend, unless requests have the same name', async () => {
    const { frequentNames } = await served.json<RecordingAnswer>('/data/recording');
    expect(frequentNames).toEqual([
      { name: 'GET', targets },
      { name: 'POST', targets: [] },
    ]);
  });

  it('have the own one on a box and in the details', async () => {
    const { names } = await served.json<RowNamesAnswer>('/data/row-names', { rows: '0-1' });
    expect(names.map(({ name }) => name)).toEqual(['GET users:8080', 'GET stock:8080']);
    expect(await served.json<RowAnswer>('/data/row', { row: 1 })).toMatchObject({
      name: 'GET',
      target: 'stock:8080',
    });
  });

  it('are compared apart from requests', async () => {
    const index = await openLookIndex(paths, { cache: false });
    try {
      const rows = Int32Array.from({ length: index.rows }, (_, row) => row);
      const [before, after] = [0, 1].map((source) => ({ index, rows, sources: new Set([source]) }));
      const groups = compareGroups(before!, after!);
      expect(groups.map(({ name, targets: of, before }) => [name, of, before.count])).toEqual([
        ['GET', targets, 6],
        ['POST', ['mail:8080'], 2],
        ['POST', [], 1],
      ]);
    } finally {
      index.close();
    }
  });
});
