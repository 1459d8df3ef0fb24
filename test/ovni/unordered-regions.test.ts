import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkTrace } from '../../src/ovni/read/check.js';
import { dumpEvents } from '../../src/ovni/read/dump.js';
import { readStream } from '../../src/ovni/read/ordered-reader.js';
import { StreamReader } from '../../src/ovni/read/reader.js';
import { streamEnding } from '../../src/ovni/read/stream-ending.js';
import * as ovni from '../../src/ovni/index.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const start = new Uint8Array(16);

/** Traces what `write` emits between a thread's start at 100 and its end at 900. */
function traced(
  version: 1 | 3,
  write: () => void,
  end = true,
): { traceDir: string; stream: string } {
  const traceDir = join(temporaryDirectory(), 'ovni');
  const { procDir } = ovni.procInit(1, 'h', 1, { version, traceDir });
  ovni.threadInit(7);
  ovni.addCpu(0, 0);
  ovni.emit('OHx', start, 100n);
  write();
  if (end) ovni.emit('OHe', undefined, 900n);
  ovni.threadFree();
  ovni.procFini();
  return { traceDir, stream: join(procDir, 'thread.7', ...(version === 3 ? ['stream.obs'] : [])) };
}

function inFile(stream: string, version: 1 | 3): string[] {
  const reader = new StreamReader(stream, { version });
  const events: string[] = [];
  while (reader.next()) events.push(`${reader.event.mcv} ${reader.event.clock}`);
  reader.close();
  return events;
}

function inOrder(stream: string, version: 1 | 3): string[] {
  const events: string[] = [];
  for (const { mcv, clock } of readStream(stream, { version })) events.push(`${mcv} ${clock}`);
  return events;
}

describe('a region of unordered events', () => {
  for (const version of [1, 3] as const) {
    it(`has earlier clocks, which readers sort, in version ${version}`, () => {
      const long = new Uint8Array(2 << 20);
      const { traceDir, stream } = traced(version, () => {
        ovni.emit('OB.', undefined, 200n);
        ovni.emit('OB.', undefined, 300n);
        ovni.emit('OU[', undefined, 400n);
        ovni.emit('OAs', new Uint8Array(4), 250n);
        ovni.emit('OB.', undefined, 150n);
        // Longer than the ring holds.
        ovni.emitJumbo('XXj', long, 160n);
        ovni.emit('OB.', undefined, 420n);
        ovni.emit('OU]', undefined, 430n);
        ovni.emit('OB.', undefined, 440n);
      });
      const region = ['OU[ 400', 'OAs 250', 'OB. 150', 'XXj 160', 'OB. 420', 'OU] 430'];
      const before = ['OHx 100', 'OB. 200', 'OB. 300'];
      const after = ['OB. 440', 'OHe 900'];
      expect(inFile(stream, version)).toEqual([...before, ...region, ...after]);
      const sorted = ['OHx 100', 'OB. 150', 'XXj 160', 'OB. 200', 'OAs 250', 'OB. 300'];
      const rest = ['OU[ 400', 'OB. 420', 'OU] 430'];
      expect(inOrder(stream, version)).toEqual([...sorted, ...rest, ...after]);
      const findings = [...checkTrace(traceDir)].map(({ rule, message }) => [rule, message]);
      const region1 = findings.filter(([rule]) => rule === 'unordered-region');
      expect(region1).toHaveLength(1);
      expect(region1[0]![1]).toContain('run ovnisort');
      expect(findings.map(([rule]) => rule)).not.toContain('clock-backwards');
      const clocks: bigint[] = [];
      for (const { clock } of dumpEvents(traceDir)) clocks.push(clock);
      expect(clocks).toHaveLength(11);
      expect(clocks).toEqual([...clocks].sort((a, b) => Number(a) - Number(b)));
    });
  }

  it('refuses them outside, and its own end before the latest event', () => {
    traced(
      3,
      () => {
        ovni.emit('OB.', undefined, 200n);
        const early = (mcv: string) => () => {
          ovni.emit(mcv, undefined, 150n);
        };
        expect(early('OB.')).toThrow(/clock/);
        ovni.event('OU[')();
        early('OB.')();
        expect(early('OU]')).toThrow(/clock/);
        ovni.event('OU]')();
        expect(early('OB.')).toThrow(/clock/);
      },
      false,
    );
  });

  it('needs no ovnisort when its events are in order', () => {
    const { traceDir } = traced(3, () => {
      ovni.emit('OU[', undefined, 200n);
      ovni.emit('OB.', undefined, 210n);
      ovni.emit('OB.', undefined, 220n);
      ovni.emit('OU]', undefined, 230n);
    });
    expect([...checkTrace(traceDir)]).toEqual([]);
  });

  it('is ended by recovery, after its latest clock and in the state by the clocks', () => {
    const { stream } = traced(
      3,
      () => {
        ovni.markType(1, 'm', { stack: true });
        ovni.emit('OHp', undefined, 500n);
        ovni.emit('OU[', undefined, 600n);
        // By the clocks, the thread is running last.
        ovni.emit('OHr', undefined, 590n);
        ovni.emit('OHp', undefined, 580n);
        ovni.emit('OHr', undefined, 570n);
      },
      false,
    );
    const reader = new StreamReader(stream, { version: 3 });
    while (reader.next() && reader.event.clock !== 570n);
    const whole = readFileSync(stream).subarray(0, reader.offset);
    reader.close();
    const read = (into: Buffer, count: number, at: number): number =>
      whole.copy(into, 0, at, at + count);
    const ending = streamEnding(stream, read, 3, whole.length, 7);
    const bytes = Buffer.from(ending.bytes);
    const added: string[] = [];
    for (let at = 0; at < bytes.length; at += 12) {
      added.push(`${bytes.toString('latin1', at + 1, at + 4)} ${bytes.readBigUInt64LE(at + 4)}`);
    }
    expect(added).toEqual(['OU] 600', 'OHe 600']);
  });

  it.skipIf(process.env['OVNIEMU'] === undefined)('passes the emulator after ovnisort', () => {
    const { traceDir } = traced(3, () => {
      ovni.emit('OU[', undefined, 400n);
      ovni.emit('OB.', undefined, 150n);
      ovni.emit('OU]', undefined, 430n);
    });
    const emulator = process.env['OVNIEMU']!;
    const sort = emulator.replace(/ovniemu$/, 'ovnisort');
    expect(spawnSync(emulator, [traceDir]).status).not.toBe(0);
    expect(spawnSync(sort, [traceDir]).status).toBe(0);
    expect(spawnSync(emulator, [traceDir]).status).toBe(0);
    expect([...checkTrace(traceDir)]).toEqual([]);
  });
});
