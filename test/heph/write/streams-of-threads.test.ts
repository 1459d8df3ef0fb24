import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/index.js';
import { eventsOf } from '../packets-of-file.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
const built = fileURLToPath(new URL('../../../dist/heph/index.js', import.meta.url));

describe('a stream', () => {
  it('has no id that is reserved for definitions', async () => {
    const trace = openTrace(join(directory, 'reserved.heph'));
    const stream = trace.stream(0xffff_fffe);
    stream.finishTrace(stream.startTrace(), 'last id');
    expect(() => trace.stream(0xffff_ffff)).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'id' }),
    );
    await trace.close();
    expect(eventsOf(join(directory, 'reserved.heph'))).toHaveLength(1);
  });

  it('is of one trace of a thread', async () => {
    const path = join(directory, 'twice.heph');
    const [first, second] = [openTrace(path), openTrace(path)];
    expect(first.stream(7)).toBe(first.stream(7));
    expect(() => second.stream(7)).toThrow(
      expect.objectContaining({ code: 'ERR_ORDER', field: 'stream' }),
    );
    second.stream(8);
    await first.close();
    await second.close();
  });

  it('is of one thread', async () => {
    const path = join(directory, 'threads.heph');
    const text = `
      const { openTrace } = require(${JSON.stringify(built)});
      const { parentPort } = require('node:worker_threads');
      const trace = openTrace(${JSON.stringify(path)});
      const stream = trace.stream(3);
      stream.finishTrace(stream.startTrace(), 'own');
      let code;
      try { new (require('node:worker_threads').Worker)(
        'const { openTrace } = require(' + JSON.stringify(${JSON.stringify(built)}) + ');' +
        'const trace = openTrace(' + JSON.stringify(${JSON.stringify(path)}) + ');' +
        'let code; try { trace.stream(3); } catch (error) { code = error.code; }' +
        'require("node:worker_threads").parentPort.postMessage(code);', { eval: true })
        .on('message', (of) => { parentPort.postMessage(of); });
      } catch (error) { parentPort.postMessage(String(error)); }`;
    const [code] = (await once(new Worker(text, { eval: true }), 'message')) as [unknown];
    expect(code).toBe('ERR_ORDER');
  });
});

describe('an array', () => {
  it('may have numbers and bigints', async () => {
    const path = join(directory, 'arrays.heph');
    const trace = openTrace(path);
    const stream = trace.stream();
    for (let i = 0; i < 3; i++) {
      stream.finishTrace(stream.startTrace(), 'mixed', { a: [1n, 2, -3], b: [1n, 2] });
    }
    await trace.close();
    for (const { attributes } of eventsOf(path)) {
      expect(attributes).toMatchObject([
        { name: 'a', type: 'i64[]', value: [1n, 2n, -3n] },
        { name: 'b', type: 'u64[]', value: [1n, 2n] },
      ]);
    }
  });

  it.each([
    [[1, 'x'], 'a[1]'],
    [[1, 2, null], 'a[2]'],
    [[null], 'a[0]'],
    [[1n, 1.5], 'a[0]'],
    [['x', { b: 1 }], 'a[1]'],
  ])('%#: an error names the element that is wrong', async (a, field) => {
    const trace = openTrace(
      join(directory, `wrong-${field}-${String(a.length)}-${typeof a[0]}.heph`),
    );
    const stream = trace.stream();
    expect(() => {
      stream.finishTrace(stream.startTrace(), 'wrong', { a } as never);
    }).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT_TYPE', field }));
    await trace.close();
  });
});
