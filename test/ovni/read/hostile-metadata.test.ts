import { describe, expect, it } from 'vitest';
import type { TraceFormatError } from '../../../src/core/errors.js';
import { dumpEvents, dumpLine, dumpObject } from '../../../src/ovni/read/dump.js';
import { checkTrace, readTraceDirectory } from '../../../src/ovni/index.js';
import { T0, execute, mark, normal, writeFileIn, writeVersion3 } from '../trace-building.js';

const events = [execute(T0), normal('OHe', T0 + 10n)];
const rulesOf = (folder: string): string[] => [...checkTrace(folder)].map(({ rule }) => rule);

describe('metadata of absurd size', { timeout: 120_000 }, () => {
  it('200,000 CPUs are accepted', () => {
    const loom_cpus = Array.from({ length: 200_000 }, (_, index) => ({ index, phyid: index }));
    expect(rulesOf(writeVersion3([{ events, ovni: { loom_cpus } }]))).toEqual([]);
  });

  it('a million faults in one file: the first are given, the others counted', () => {
    const loom_cpus = new Array<number>(1_000_000).fill(0);
    const folder = writeVersion3([{ events, ovni: { loom_cpus } }]);
    const findings = [...checkTrace(folder)].filter(({ rule }) => rule === 'metadata');
    expect(findings).toHaveLength(21);
    expect(findings.at(-1)!.message).toBe('999,980 more findings of this rule');
    const faults: TraceFormatError[] = [];
    readTraceDirectory(folder, { onFault: (fault) => faults.push(fault) });
    expect(faults).toHaveLength(1001);
    expect(faults.at(-1)!.fault).toBe('999000 more faults');
  });

  it('300,000 lines that are no clock offsets', () => {
    const folder = writeVersion3([{ events }]);
    writeFileIn(folder, 'clock-offsets.txt', 'x\n'.repeat(300_000));
    const findings = [...checkTrace(folder)];
    expect(findings).toHaveLength(21);
    expect(findings.at(-1)!.message).toBe('299,980 more findings of this rule');
  });

  it('more JSON values than are read: a finding', () => {
    const folder = writeVersion3([{ events }]);
    const path = 'loom.node.1/proc.1/thread.1/stream.json';
    const file = writeFileIn(folder, path, `[${'{},'.repeat(10_000_000)}{}]`);
    const finding = [...checkTrace(folder)].find(({ rule }) => rule === 'metadata');
    expect(finding).toMatchObject({ severity: 'error', path: file, offset: 0 });
    expect(finding!.message).toMatch(/^the JSON has more than 4194304 values at byte \d+$/);
  });

  it('a title, a label and a loom of a megabyte do not stand whole beside every event', () => {
    const long = '\u007f'.repeat(1_000_000);
    const folder = writeVersion3([
      {
        events: [execute(T0), mark('OM[', T0 + 1n, 7, 3), mark('OM]', T0 + 2n, 7, 3)],
        ovni: {
          loom: 'node.1' + long,
          mark: { 3: { title: long, chan_type: 'stack', labels: { 7: long } } },
        },
      },
    ]);
    for (const event of dumpEvents(folder)) {
      expect(dumpLine(event).length).toBeLessThan(50_000);
      expect(JSON.stringify(dumpObject(event)).length).toBeLessThan(50_000);
    }
    for (const { message } of checkTrace(folder)) expect(message.length).toBeLessThan(3000);
  });
});
