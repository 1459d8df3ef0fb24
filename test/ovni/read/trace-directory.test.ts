import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TraceFormatError, TracewrightError } from '../../../src/core/errors.js';
import {
  clockOffsetOf,
  hostOf,
  readTraceDirectory,
} from '../../../src/ovni/read/trace-directory.js';
import { goldenTrace } from '../golden-trace.js';
import {
  T0,
  execute,
  normal,
  temporaryFolder,
  writeFileIn,
  writeVersion1,
  writeVersion3,
} from '../trace-building.js';

const life = [execute(T0), normal('OHe', T0 + 9n)];

const faultsOf = (path: string): TraceFormatError[] => {
  const faults: TraceFormatError[] = [];
  readTraceDirectory(path, { onFault: (fault) => faults.push(fault) });
  return faults;
};

describe('readTraceDirectory', () => {
  test('the golden traces', () => {
    const version3 = readTraceDirectory(goldenTrace(3).trace);
    expect(version3.version).toBe(3);
    const { loom, pid, tid, metadata } = version3.streams[0]!;
    expect({ loom, pid, tid }).toEqual({ loom: 'node0.1000', pid: 4242, tid: 4242 });
    expect(metadata).toMatchObject({
      appId: 1,
      rank: 0,
      nranks: 2,
      cpus: [
        { index: 0, phyid: 0 },
        { index: 1, phyid: 2 },
      ],
      libraryVersion: '1.14.0',
      finished: true,
      attributes: { app: { name: 'golden', level: 2.5, debug: true } },
    });
    expect(metadata.require?.get('nosv')).toBe('2.4.0');
    expect(metadata.marks.get(3)).toEqual({
      title: 'Request',
      channel: 'stack',
      labels: new Map([[7n, 'GET /']]),
    });
    const version1 = readTraceDirectory(goldenTrace(1).trace);
    expect(version1.version).toBe(1);
    expect(version1.looms[0]?.processes[0]?.metadata).toMatchObject({ appId: 1, nranks: 2 });
    expect(version1.streams[0]).toMatchObject({ loom: 'node0.1000', pid: 4242, tid: 4242 });
  });

  test('a trace, a loom, a process and a stream, of both versions', () => {
    const threads = [
      { events: life },
      { tid: 2, events: life },
      { pid: 2, tid: 3, events: life },
      { loom: 'node.2', pid: 3, tid: 4, events: life },
    ];
    for (const [version, folder] of [
      [1, writeVersion1(threads)],
      [3, writeVersion3(threads)],
    ] as const) {
      const tids = (path: string): number[] => {
        const trace = readTraceDirectory(join(folder, path));
        expect(trace.version).toBe(version);
        return trace.streams.map(({ tid }) => tid);
      };
      expect(tids('')).toEqual([1, 2, 3, 4]);
      expect(tids('loom.node.1')).toEqual([1, 2, 3]);
      expect(tids('loom.node.1/proc.1')).toEqual([1, 2]);
      expect(tids('loom.node.1/proc.1/thread.2')).toEqual([2]);
      if (version === 3) {
        expect(tids('loom.node.1/proc.1/thread.2/stream.obs')).toEqual([2]);
        expect(tids('loom.node.1/proc.1/thread.2/stream.json')).toEqual([2]);
      }
      const { looms } = readTraceDirectory(folder);
      expect(looms.map(({ name }) => name)).toEqual(['node.1', 'node.2']);
      expect(looms[0]?.processes.map(({ pid }) => pid)).toEqual([1, 2]);
    }
  });

  test('of version 3 only stream.json says whose a stream is', () => {
    const folder = writeVersion3([{ events: life, ovni: { loom: 'x', pid: 7, tid: 8 } }]);
    expect(readTraceDirectory(folder).streams[0]).toMatchObject({ loom: 'x', pid: 7, tid: 8 });
  });

  test('the private key of version 1', () => {
    const folder = writeVersion1([{ events: life }, { tid: 2, events: life }], {
      1: {
        tracewright: {
          threads: {
            1: {
              ovni: {
                require: { ovni: '1.1.0', nosv: '2.4.0' },
                mark: { 3: { title: 'Request', chan_type: 'stack', labels: { '-7': 'GET' } } },
                finished: 1,
              },
              app: { name: 'golden' },
            },
          },
        },
      },
    });
    const [first, second] = readTraceDirectory(folder).streams;
    expect(first?.metadata).toMatchObject({
      appId: 1,
      finished: true,
      attributes: { app: { name: 'golden' } },
    });
    expect(first?.metadata.marks.get(3)?.labels.get(-7n)).toBe('GET');
    expect(first?.metadata.require?.get('nosv')).toBe('2.4.0');
    // Ours would have said more about it when it ended.
    expect(second?.metadata).toMatchObject({ finished: false, require: undefined });
  });

  test('another library writes the metadata of version 1 when the process ends', () => {
    const folder = writeVersion1([{ events: life }]);
    expect(readTraceDirectory(folder).streams[0]?.metadata.finished).toBe(true);
  });

  test('hidden names are passed over, links are not followed', () => {
    for (const folder of [writeVersion1([{ events: life }]), writeVersion3([{ events: life }])]) {
      writeFileIn(folder, 'loom.node.1/proc.1/.thread.9.ring', 'ring');
      writeFileIn(folder, 'loom.node.1/.cpus', '');
      writeFileIn(folder, '.hidden/stream.json', '{}');
      const outside = writeVersion3([{ tid: 9, events: life }]);
      symlinkSync(join(outside, 'loom.node.1'), join(folder, 'loom.linked'));
      symlinkSync(folder, join(folder, 'loom.node.1/proc.1/circle'));
      expect(readTraceDirectory(folder).streams.map(({ tid }) => tid)).toEqual([1]);
    }
  });

  test('what is no trace', () => {
    const folder = temporaryFolder();
    expect(() => readTraceDirectory(folder)).toThrow(TraceFormatError);
    expect(() => readTraceDirectory(writeFileIn(folder, 'file', ''))).toThrow(TraceFormatError);
    expect(() => readTraceDirectory(join(folder, 'missing'))).toThrow(TracewrightError);
    const both = writeVersion1([{ events: life }]);
    writeVersion3([{ loom: 'other', events: life }], both);
    expect(() => readTraceDirectory(both)).toThrow(/version 1 .* and version 3/);
  });

  test.each([
    ['ovni.tid', { tid: 0 }],
    ['ovni.tid', { tid: '1' }],
    ['ovni.tid', { tid: 2 ** 31 }],
    ['ovni.tid', { tid: undefined }],
    ['ovni.pid', { pid: -1 }],
    ['ovni.loom', { loom: undefined }],
    ['ovni.part', { part: 'other' }],
    ['ovni.part', { part: undefined }],
    ['ovni.app_id', { app_id: 0 }],
    ['ovni.rank', { rank: -1 }],
    ['ovni.loom_cpus', { loom_cpus: [] }],
    ['ovni.loom_cpus', { loom_cpus: [3] }],
    ['ovni.loom_cpus[0].index', { loom_cpus: [{ index: -1, phyid: 0 }] }],
    ['ovni.loom_cpus[0].phyid', { loom_cpus: [{ index: 0 }] }],
    ['ovni.require', { require: [] }],
    ['ovni.lib.version', { lib: { version: 1 } }],
    ['ovni.mark.100', { mark: { 100: { title: 'a', chan_type: 'stack' } } }],
    ['ovni.mark.1.title', { mark: { 1: { chan_type: 'stack' } } }],
    ['ovni.mark.1.chan_type', { mark: { 1: { title: 'a', chan_type: 'heap' } } }],
    ['ovni.mark.1.chan_type', { mark: { 1: { title: 'a' } } }],
    ['ovni.mark.1.labels', { mark: { 1: { title: 'a', chan_type: 'stack', labels: { z: 'a' } } } }],
    ['ovni.mark.1.labels', { mark: { 1: { title: 'a', chan_type: 'stack', labels: { 1: 5 } } } }],
    [
      'ovni.mark.1.labels',
      { mark: { 1: { title: 'a', chan_type: 'stack', labels: { 9223372036854775808: 'a' } } } },
    ],
  ])('a wrong %s', (field, ovni) => {
    const folder = writeVersion3([{ events: life, ovni }]);
    const path = join(folder, 'loom.node.1/proc.1/thread.1/stream.json');
    expect(() => readTraceDirectory(folder)).toThrow(TraceFormatError);
    expect(faultsOf(folder)).toMatchObject([{ path, offset: 0, field }]);
  });

  test('the same thread twice, and a stream.json without its stream', () => {
    const twice = writeVersion3([{ events: life }, { tid: 2, events: life, ovni: { tid: 1 } }]);
    expect(faultsOf(twice)).toMatchObject([{ field: 'ovni.tid' }]);
    const lonely = writeVersion3([{ events: life }]);
    rmSync(join(lonely, 'loom.node.1/proc.1/thread.1/stream.obs'));
    expect(faultsOf(lonely)).toMatchObject([{ field: 'stream.obs' }]);
  });

  test('version 1 folders that its readers refuse', () => {
    const unended = writeVersion1([{ events: life }]);
    rmSync(join(unended, 'loom.node.1/proc.1/metadata.json'));
    expect(faultsOf(unended)).toMatchObject([{ field: 'metadata.json' }]);

    const stray = writeVersion1([{ events: life }]);
    writeFileIn(stray, 'loom.node.1/proc.1/thread.1.ring', 'x');
    mkdirSync(join(stray, 'loom.node.1/proc.1/thread.7'));
    expect(faultsOf(stray)).toMatchObject([{ field: 'tid' }, { field: 'tid' }]);

    const empty = writeVersion1([{ events: life }]);
    rmSync(join(empty, 'loom.node.1/proc.1/thread.1'));
    expect(faultsOf(empty)).toMatchObject([{ field: 'thread' }]);

    const unnamed = writeVersion1([{ events: life }], { 1: { app_id: undefined } });
    expect(faultsOf(unnamed)).toMatchObject([{ field: 'app_id' }]);
  });

  test('metadata that is any JSON, or no JSON, gives faults and nothing else', () => {
    const folder = writeVersion3([{ events: life }]);
    const path = 'loom.node.1/proc.1/thread.1/stream.json';
    const known = fc.constantFrom('version', 'ovni', 'tid', 'mark', 'labels', '__proto__', '3');
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(3, 1, 'thread', null, true, -1, 1e300, 'x'),
        fc.dictionary(known, tie('value')),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.oneof(
          value.map((json) => JSON.stringify(json)),
          fc.string(),
        ),
        (text) => {
          writeFileIn(folder, path, text);
          const faults = faultsOf(folder);
          for (const fault of faults) expect(fault).toBeInstanceOf(TraceFormatError);
          expect(faults.length).toBeGreaterThan(0);
        },
      ),
    );
  });

  test('clock offsets are of hosts', () => {
    const folder = writeVersion3([
      { loom: 'a.1', events: life },
      { loom: 'a.2', pid: 2, events: life },
      { loom: 'b', pid: 3, events: life },
    ]);
    writeFileIn(
      folder,
      'clock-offsets.txt',
      'rank       hostname  offset_median  offset_mean  offset_std\n0 a 0 0 0\n\n1 b -1234.9 5 6.5\n',
    );
    const trace = readTraceDirectory(folder);
    expect(trace.streams.map((stream) => clockOffsetOf(trace, stream))).toEqual([0n, 0n, -1234n]);
    const part = readTraceDirectory(join(folder, 'loom.b/proc.3/thread.1'));
    expect(clockOffsetOf(part, part.streams[0]!)).toBe(-1234n);
    expect(hostOf('node.1.2')).toBe('node');

    writeFileIn(folder, 'clock-offsets.txt', 'header\n0 a 1 1 1\n1 a 1 1 1\n2 b\n');
    expect(faultsOf(folder)).toMatchObject([
      { field: 'clock-offsets', message: expect.stringContaining('line 3') as string },
      { field: 'clock-offsets', message: expect.stringContaining('line 4') as string },
    ]);
  });
});
