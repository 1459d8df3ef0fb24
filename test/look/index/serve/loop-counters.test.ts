import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';

const directory = temporaryDirectory();

function word(name: string, value: number): Buffer {
  const bytes = Buffer.alloc(11 + name.length);
  bytes.writeUInt16BE(name.length, 0);
  bytes.write(name, 2, 'latin1');
  bytes[2 + name.length] = 1;
  bytes.writeBigUInt64BE(BigInt(value), 3 + name.length);
  return bytes;
}

function event(name: string, start: number, end: number, attributes: [string, number][]): Buffer {
  const words = attributes.map(([key, value]) => word(key, value));
  const head = Buffer.alloc(42);
  const size = 42 + name.length + words.reduce((sum, { length }) => sum + length, 0);
  head.writeUInt32BE(0xc1fc_1fb7, 0);
  head.writeUInt32BE(size, 4);
  head.writeBigUInt64BE(BigInt(start), 24);
  head.writeBigUInt64BE(BigInt(end), 32);
  head.writeUInt16BE(name.length, 40);
  return Buffer.concat([head, Buffer.from(name), ...words]);
}

test('records of an event loop are curves, and no rows', async () => {
  const path = join(directory, 'loop.heph');
  const lookUps: [string, number][] = [
    ['dns', 90],
    ['lookups', 3],
  ];
  const loop = (start: number, end: number, busy: number): Buffer =>
    event('tracewright.loop', start, end, [
      ['~v', 1],
      ['busy', busy],
      ['longest', 70],
      ['delay', 7],
      ['gc', 50],
      ...(busy === 500 ? lookUps : []),
    ]);
  writeFileSync(
    path,
    Buffer.concat([event('work', 1000, 1500, []), loop(1000, 2000, 250), loop(2000, 3000, 500)]),
  );
  const index = await openLookIndex([path], { cache: false });
  expect(index.rows).toBe(1);
  expect(
    index.counters.map(({ name, unit, times, values }) => [name, unit, [...times], [...values]]),
  ).toEqual([
    ['event loop utilisation', 'ratio', [0, 1000, 2000], [0.25, 0.5, 0]],
    ['event loop longest turn', 'ns', [0, 1000, 2000], [70, 70, 0]],
    ['event loop delay', 'ns', [0, 1000, 2000], [7, 7, 0]],
    ['garbage collection', 'ratio', [0, 1000, 2000], [0.05, 0.05, 0]],
    ['dns look-ups', '', [1000, 2000], [3, 0]],
    ['dns look-up on average', 'ns', [1000, 2000], [30, 0]],
  ]);
  index.close();
});
