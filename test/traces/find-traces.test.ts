import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { findTraces } from '../../src/traces/find-traces.js';
import { encodeEpoch, encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { execute, writeVersion1, writeVersion3 } from '../ovni/trace-building.js';

const directory = temporaryDirectory();

function writeHeph(...path: string[]): void {
  const file = join(...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, Buffer.concat([encodeEpoch(1n), encodeEvent(someEvent())]));
}

it.each([
  ['1', '.'],
  ['3', '.'],
  ['1', 'ovni'],
  ['3', 'ovni'],
])('a trace of ovni %s at %s hides none next to its parts', (version, where) => {
  const root = join(directory, `${version}-${where.length}`);
  const ovni = join(root, where);
  const streams = [{ events: [execute(1000n)] }];
  if (version === '1') writeVersion1(streams, {}, ovni);
  else writeVersion3(streams, ovni);
  writeHeph(ovni, 'next.heph');
  writeHeph(ovni, 'below', 'deeper', 'one.heph');
  writeVersion3(streams, join(ovni, 'below', 'another'));
  const found = findTraces([root]).map(({ format, path }) => [
    format.name,
    relative(ovni, path) || '.',
  ]);
  expect(found.sort()).toEqual([
    ['Heph', 'below/deeper/one.heph'],
    ['Heph', 'next.heph'],
    ['ovni', '.'],
    ['ovni', 'below/another'],
  ]);
});

it('an empty directory says what to start', () => {
  const empty = join(directory, 'nothing');
  mkdirSync(empty);
  expect(() => findTraces([empty])).toThrow(
    /nothing is empty\. To record a service, start it with `node --require tracewright\/register/,
  );
});
