import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { pprofBytes } from '../../src/export/stacks/pprof.js';
import { sampledStacks } from '../../src/export/stacks/sampled-stacks.js';
import type { ThreadStacks } from '../../src/export/stacks/sampled-stacks.js';
import { speedscopeText } from '../../src/export/stacks/speedscope.js';
import { openLookIndex } from '../../src/look/index/open-look-index.js';
import { TracedProcess } from '../node/traced-process.js';
import { decodeFields, integer, messages } from './protobuf-fields.js';
import type { Fields } from './protobuf-fields.js';

interface Speedscope {
  shared: { frames: { name: string; file?: string; line?: number }[] };
  profiles: {
    type: string;
    unit: string;
    endValue: number;
    samples: number[][];
    weights: number[];
  }[];
}

async function stacksOf(
  env: Record<string, string>,
  program = 'blocking-shapes.mjs',
  args = ['main', 'callingLoop', 'callingLoop'],
): Promise<[ThreadStacks[], bigint]> {
  const service = new TracedProcess(program, { env: { TRACEWRIGHT_CONTEXT: 'on', ...env }, args });
  await service.ended();
  const index = await openLookIndex([service.directory]);
  try {
    return [await sampledStacks(index), index.epoch];
  } finally {
    index.close();
  }
}

const kinds: [string, Record<string, string>][] = [
  ['samples', { TRACEWRIGHT_PROFILE: 'cpu:200' }],
  ['stalls', { TRACEWRIGHT_STALL_MS: '50' }],
];

it.each(kinds)('stacks of %s are flame charts and profiles of other tools', async (_, env) => {
  const [threads, epoch] = await stacksOf(env);
  const { shared, profiles } = JSON.parse(speedscopeText(threads)) as Speedscope;
  const [profile] = profiles;
  expect(profile).toMatchObject({ type: 'sampled', unit: 'nanoseconds' });
  const { samples, weights, endValue } = profile!;
  expect(weights).toHaveLength(samples.length);
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBe(endValue);
  const loops = samples.filter((stack) =>
    stack.some((frame) => shared.frames[frame]!.name === 'callingLoop'),
  );
  expect(loops.length).toBeGreaterThan(0);
  const own = shared.frames.find(({ name }) => name === 'callingLoop')!;
  expect(own.file).toMatch(/blocking-shapes\.mjs$/);
  // The caller comes first.
  const names = loops[0]!.map((frame) => shared.frames[frame]!.name);
  expect(names.indexOf('run')).toBeLessThan(names.indexOf('callingLoop'));

  const fields = decodeFields(gunzipSync(pprofBytes(threads, epoch)));
  const strings = fields.get(6)!.map((bytes) => Buffer.from(bytes as Uint8Array).toString());
  expect(strings[0]).toBe('');
  const stringOf = (from: Fields, field: number) => strings[Number(integer(from, field) ?? 0n)];
  expect(messages(fields, 1).map((type) => [stringOf(type, 1), stringOf(type, 2)])).toEqual([
    ['samples', 'count'],
    ['wall', 'nanoseconds'],
  ]);
  const functions = messages(fields, 5).map((each) => [integer(each, 1), stringOf(each, 2)]);
  const ofFunction = new Map(functions as [bigint, string][]);
  const locations = new Map(
    messages(fields, 4).map((each) => [
      integer(each, 1),
      ofFunction.get(integer(messages(each, 4)[0]!, 1)!),
    ]),
  );
  const found = messages(fields, 2).map((sample) => ({
    // The innermost comes first.
    stack: sample.get(1)!.map((id) => locations.get(id as bigint)!),
    wall: Number(sample.get(2)![1]),
  }));
  const expected = profiles.flatMap(({ samples: all, weights: each }) =>
    all.map((stack, at) => ({
      stack: stack.map((frame) => shared.frames[frame]!.name).reverse(),
      wall: Math.round(each[at]!),
    })),
  );
  expect(found).toEqual(expected);
});

it('stacks of allocations are profiles of their own', async () => {
  const [threads, epoch] = await stacksOf(
    { TRACEWRIGHT_PROFILE: 'cpu:200,heap' },
    'allocating-program.mjs',
    ['main'],
  );
  const { shared, profiles } = JSON.parse(speedscopeText(threads)) as Speedscope;
  const [time, bytes, ...more] = profiles.toSorted((a, b) => (a.unit < b.unit ? 1 : -1));
  expect([time!.unit, bytes!.unit, more]).toEqual(['nanoseconds', 'bytes', []]);
  const most = bytes!.samples[bytes!.weights.indexOf(Math.max(...bytes!.weights))]!;
  expect(shared.frames[most.at(-1)!]!.name).toBe('keepRows');
  expect(bytes!.endValue).toBeGreaterThan(20e6);

  const fields = decodeFields(gunzipSync(pprofBytes(threads, epoch)));
  const values = messages(fields, 2).map((sample) => sample.get(2)!.map(Number));
  const sums = values.reduce((sum, each) => sum.map((value, at) => value + each[at]!));
  expect(messages(fields, 1)).toHaveLength(4);
  expect(sums).toHaveLength(4);
  expect(sums[0]).toBe(time!.samples.length);
  expect(sums[1]! / time!.endValue).toBeCloseTo(1, 3);
  expect(sums[2]).toBeGreaterThan(0);
  expect(sums[3]).toBe(bytes!.endValue);
});
