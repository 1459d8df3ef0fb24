import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const bench = new URL('../../bench/', import.meta.url);
const { instructionsOf } = (await import(new URL('callgrind.mjs', bench).href)) as {
  instructionsOf: (profile: string, map: string) => { all: number; collector: number };
};

// As callgrind 3.19 writes it: a name is given once, and the line after `calls=` has what the call took in all.
const PROFILE = `events: Ir
summary: 1320

ob=(2) /usr/bin/node
fn=(7) v8::internal::HeapAllocator::CollectGarbage(int)
0 20
cfn=(8) v8::internal::Heap::PerformGarbageCollection(int)
calls=3 0
0 900
0 5

fn=(8)
0 100
cfn=(9) v8::internal::Heap::PerformGarbageCollection(int)::{lambda()#1}::operator()() const
calls=3 0
0 800

fn=(9)
0 800

ob=(1) ???
fn=(10) 0x0000000000001010
0 300
cob=(3) /package/build/Release/tracewright.node
cfn=(11) 0x0000000000001010
calls=5 0x1010
* 95

ob=(3)
fn=(11)
+3 95
`;

const MAP = `1000 40 JS:~early /package/dist/a.js:1:2
1000 80 JS:*late file:///package/dist/a.js:3:4
2000 80 Builtin:Abort
`;

test('instructions are those of a function itself, and a collection has those of what it calls', () => {
  expect(instructionsOf(PROFILE, MAP)).toEqual({
    all: 1320,
    collector: 900,
    functions: [
      {
        code: 'v8::internal::HeapAllocator::CollectGarbage(int)',
        binary: '/usr/bin/node',
        instructions: 25,
      },
      {
        code: 'v8::internal::Heap::PerformGarbageCollection(int)',
        binary: '/usr/bin/node',
        instructions: 100,
      },
      {
        code: 'v8::internal::Heap::PerformGarbageCollection(int)::{lambda()#1}::operator()() const',
        binary: '/usr/bin/node',
        instructions: 800,
      },
      { code: 'JS:*late file:///package/dist/a.js:3:4', binary: '???', instructions: 300 },
      {
        code: '0x0000000000001010',
        binary: '/package/build/Release/tracewright.node',
        instructions: 95,
      },
    ],
  });
});

test('without Valgrind the benchmark reports that it skips', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('http-instructions.mjs', bench)), '--json'],
    { encoding: 'utf8', env: { PATH: '' } },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    tables: [],
    notes: ['Skipped: valgrind and callgrind_control are not on the PATH.'],
  });
});
