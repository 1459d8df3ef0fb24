import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as ovni from '../../../src/ovni/index.js';
import { callHostile, hostileValue } from '../../hostile-values.js';
import { temporaryFolder } from '../trace-building.js';

type Loose = (...values: unknown[]) => unknown;
type Call = (values: readonly unknown[]) => unknown;

const { emit, emitJumbo, event, markType, markLabel, markPush, markPop, markSet } =
  ovni as unknown as Record<string, Loose>;
const { attrSet, attrGet, attrHas, addCpu, threadRequire, threadInit, procInit, procSetRank } =
  ovni as unknown as Record<string, Loose>;

const calls: readonly Call[] = [
  ([payload]) => emit!('Zab', payload),
  ([payload]) => emit!('Zab', payload, ovni.clockNow()),
  (values) => emit!(...values),
  ([payload, clock]) => emit!('Zab', payload, clock),
  ([data]) => emitJumbo!('Zab', data),
  ([data]) => emitJumbo!('Zab', data, ovni.clockNow()),
  (values) => emitJumbo!(...values),
  (values) => (event!('Zab(u8 a, i64 b)') as Loose)(...values),
  (values) => (event!('Zab+(u8 a, str b)') as Loose)(1, ...values),
  ([signature]) => event!(signature),
  (values) => markType!(...values),
  ([title, options]) => markType!(7, title, options),
  (values) => markLabel!(1, ...values),
  ([value]) => markPush!(1, value),
  ([value]) => markPop!(1, value),
  ([value]) => markSet!(2, value),
  (values) => markPush!(...values),
  (values) => attrSet!(...values),
  ([value]) => attrSet!('app.value', value),
  ([key]) => attrGet!(key),
  ([key]) => attrHas!(key),
  (values) => threadRequire!(...values),
  ([model]) => threadRequire!(model, '1.0.0'),
  (values) => threadInit!(...values),
  (values) => procInit!(...values),
  ([rank, ranks]) => procSetRank!(rank, ranks),
  ([index]) => addCpu!(index, index),
];

it.each([1, 3] as const)('version %i: whatever is passed, the trace can be read', (version) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.nat(calls.length - 1), fc.array(hostileValue, { minLength: 1, maxLength: 3 })),
        { minLength: 1, maxLength: 12 },
      ),
      (chosen) => {
        const traceDir = temporaryFolder();
        ovni.procInit(1, 'loom', 100, { traceDir, version, ringBytes: 65_536 });
        ovni.threadInit(100);
        ovni.addCpu(0, 0);
        ovni.event('OHx')(0, -1, 0);
        ovni.markType(1, 'stack', { stack: true });
        ovni.markType(2, 'single');
        let nested = false;
        const misbehave = (): void => {
          if (nested) return;
          nested = true;
          ovni.emit('Zab', new Uint8Array(8));
          ovni.flush();
          nested = false;
        };
        try {
          for (const [index, values] of chosen) {
            callHostile(() => calls[index]!(values.map((make) => make(misbehave))));
          }
          ovni.emit('Zab', new Uint8Array(4));
          ovni.event('OHe')();
        } finally {
          ovni.threadFree();
          ovni.procFini();
        }
        expect([...ovni.checkTrace(traceDir)].filter(isFault)).toEqual([]);
        const events = eventsOf(traceDir);
        expect(events.slice(-2).map((each) => each.slice(0, 3))).toEqual(['Zab', 'OHe']);
      },
    ),
    { numRuns: 50 },
  );
});

/** Name and bytes of each event. */
function eventsOf(traceDir: string): string[] {
  const { streams, version } = ovni.readTraceDirectory(traceDir);
  const events = ovni.readStream(streams[0]!.path, { version });
  return Array.from(
    events,
    ({ mcv, jumbo, dataBytes, payloadBytes }) => `${mcv} ${jumbo ? dataBytes : payloadBytes}`,
  );
}

/** Faults of events that the program chose by their names are the program's. */
function isFault({ severity, rule }: { severity: string; rule: string }): boolean {
  return severity === 'error' && rule !== 'unknown-model' && rule !== 'unknown-event';
}

it('takes lengths from the array itself', () => {
  const traceDir = temporaryFolder();
  ovni.procInit(1, 'loom', 100, { traceDir, version: 3 });
  ovni.threadInit(100);
  ovni.event('OHx')(-1, -1, 0);
  const pretends = (bytes: number, length: number): Uint8Array =>
    Object.defineProperty(new Uint8Array(bytes).fill(7), 'length', { value: length });
  ovni.emit('Zab', pretends(4, 16));
  ovni.emit('Zab', pretends(4, 2));
  ovni.emitJumbo('Zab', pretends(4, 3000));
  ovni.emitJumbo('Zab', pretends(5000, 1));
  const detached = new Uint8Array(4);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  const refused: unknown = expect.objectContaining({
    name: 'TracewrightError',
    code: 'ERR_ARGUMENT_RANGE',
  });
  expect(() => {
    ovni.emit('Zab', detached);
  }).toThrow(refused);
  expect(() => {
    ovni.emitJumbo('Zab', detached);
  }).toThrow(refused);
  expect(() => {
    ovni.emit('Zab', new Proxy(new Uint8Array(4), {}));
  }).toThrow(expect.objectContaining({ name: 'TracewrightError', code: 'ERR_ARGUMENT_TYPE' }));
  ovni.event('OHe')();
  ovni.threadFree();
  ovni.procFini();
  const events = eventsOf(traceDir);
  expect(events).toEqual(['OHx 16', 'Zab 4', 'Zab 4', 'Zab 4', 'Zab 5000', 'OHe 0']);
});
