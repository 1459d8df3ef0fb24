import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtTrace } from '../dumpi/trace-building.js';
import { encodeEpoch, encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../heph/temporary-file.js';
import { execute, writeVersion1, writeVersion3 } from '../ovni/trace-building.js';
import { tracewright } from '../cli/run-command.js';

const directory = temporaryDirectory();
const SPARSE_BYTES = 60e9;
const heph = Buffer.concat([encodeEpoch(1n), encodeEvent(someEvent())]);

/** Traces whose files go on with nothing but a hole. */
const sparse: Readonly<Record<string, (name: string) => { trace: string; file: string }>> = {
  'ovni 1': (name) => {
    const trace = writeVersion1([{ events: [execute(1000n)] }], {}, join(directory, name));
    return { trace, file: join(trace, 'loom.node.1/proc.1/thread.1') };
  },
  'ovni 3': (name) => {
    const trace = writeVersion3([{ events: [execute(1000n)] }], join(directory, name));
    return { trace, file: join(trace, 'loom.node.1/proc.1/thread.1/stream.obs') };
  },
  Heph: (name) => single(writeTrace(directory, `${name}.heph`, heph)),
  DUMPI: (name) => single(writeTrace(directory, `${name}.bin`, builtTrace({}))),
  'references in binary': (name) =>
    single(writeTrace(directory, `${name}.references`, Buffer.alloc(18, 'r'))),
  'references in text': (name) =>
    single(writeTrace(directory, `${name}.references.txt`, Buffer.from('r 1 2 3 4\n'))),
  'kernel events': (name) =>
    single(writeTrace(directory, `${name}.kernel.txt`, Buffer.from('s 1 2\n'))),
};

function single(file: string): { trace: string; file: string } {
  return { trace: file, file };
}

describe.each(Object.entries(sparse))('%s, 60 GB that are not there', (name, make) => {
  const { trace, file } = make(name.replaceAll(' ', '-'));
  truncateSync(file, SPARSE_BYTES);
  it.each(['check', 'dump'])('%s stops at the hole', { timeout: 60_000 }, (command) => {
    const from = performance.now();
    const { status } = tracewright(command, trace);
    expect(status).toBe(1);
    expect(performance.now() - from).toBeLessThan(8_000);
    expect(statSync(file).blocks).toBeLessThan(1000);
  });
});

describe('recover, of a file that no reader opens and that has no ring', () => {
  it.each([
    ['zeros.heph', Buffer.alloc(100)],
    ['zeros.references', Buffer.alloc(100)],
    ['zeros.references.txt', Buffer.from('no reference\nr 1 2')],
    ['zeros.kernel.txt', Buffer.from('no event\ns 1')],
    ['no-index.bin', builtTrace({}).subarray(0, -20)],
    ['run.meta', Buffer.from('numprocs=2\n')],
    ['loom.node.1/proc.1/thread.1', Buffer.alloc(100)],
  ])('%s', (name, bytes) => {
    const path = writeTrace(directory, `unreadable/${name}`, bytes);
    writeFileSync(join(directory, 'unreadable', 'notes'), '');
    if (name.startsWith('loom')) {
      writeTrace(
        directory,
        'unreadable/loom.node.1/proc.1/metadata.json',
        Buffer.from('{"version":1,"app_id":1}'),
      );
    }
    const { status, stdout, stderr } = tracewright('recover', path);
    expect(stdout + stderr).not.toContain('nothing to recover');
    expect(status).toBe(1);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    const json = tracewright('recover', '--json', path);
    expect(json.status).toBe(1);
  });

  it('says so after a good one, too', () => {
    const good = writeTrace(directory, 'good.heph', heph);
    const { status, stdout } = tracewright('recover', good);
    expect([status, stdout]).toEqual([0, `${good}: nothing to recover (Heph)\n`]);
  });
});
