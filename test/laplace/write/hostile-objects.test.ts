import fc from 'fast-check';
import { expect, it } from 'vitest';
import { kernelEventKinds } from '../../../src/laplace/kernel-event-kinds.js';
import { checkKernelEvents, checkReferences } from '../../../src/laplace/read/check.js';
import { readKernelEvents } from '../../../src/laplace/read/kernel-reader.js';
import { readReferences } from '../../../src/laplace/read/reference-reader.js';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
import { openReferences } from '../../../src/laplace/write/references.js';
import { callHostile, hostileValue } from '../../hostile-values.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const directory = temporaryDirectory();

type Loose = (...values: unknown[]) => unknown;
const FIELDS = ['type', 'timestamp', 'length', 'space', 'address'] as const;
const METHODS = ['load', 'store', 'fetch', 'reference', 'batch'] as const;

/** What every field of a batch may be. */
function arrays(): Record<string, unknown> {
  return {
    type: new Uint8Array(3).fill(0x72),
    timestamp: new Float64Array(3),
    length: new Uint8Array(3),
    space: new Uint32Array(3),
    address: new Uint32Array(3),
  };
}

it.each(['binary', 'text'] as const)('%s: whatever is passed, the trace can be read', (form) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.nat(METHODS.length + 4 * FIELDS.length - 1),
          fc.array(hostileValue, { minLength: 1, maxLength: 4 }),
        ),
        { minLength: 1, maxLength: 10 },
      ),
      (chosen) => {
        const path = fileIn(directory);
        const references = openReferences(path, { form, ringBytes: 65_536 });
        let nested = false;
        const misbehave = (): void => {
          if (nested) return;
          nested = true;
          references.load(1, 2, 3, 4);
          references.batch({ ...arrays(), address: new Uint32Array(3) } as never);
          references.flush();
          nested = false;
        };
        for (const [index, makers] of chosen) {
          const values = makers.map((make) => make(misbehave));
          callHostile(() => {
            const method = METHODS[index];
            if (method !== undefined) {
              (references[method] as Loose).call(references, ...values);
              return;
            }
            const given = arrays();
            values.forEach((value, i) => {
              given[FIELDS[(index + i) % FIELDS.length]!] = value;
            });
            (references.batch as Loose).call(references, given);
          });
        }
        references.load(undefined, 1, 2, 3);
        references.close();
        const faults = [...checkReferences(path, { form })].filter(
          ({ severity }) => severity === 'error',
        );
        expect(faults).toEqual([]);
        expect([...readReferences(path, { form })].at(-1)).toMatchObject({
          length: 1,
          space: 2,
          address: 3,
        });
      },
    ),
    { numRuns: 50 },
  );
});

it('a getter that detaches what was checked before it', () => {
  const path = fileIn(directory);
  const references = openReferences(path, { form: 'binary' });
  const address = new Uint32Array(1000);
  const given = {
    type: 'r',
    length: 1,
    space: 1,
    address,
    get timestamp() {
      structuredClone(address.buffer, { transfer: [address.buffer] });
      return undefined;
    },
  };
  expect(() => {
    references.batch(given as never);
  }).toThrow(expect.objectContaining({ name: 'TracewrightError', field: 'address' }));
  references.close();
  expect([...readReferences(path)]).toEqual([]);
});

it('kernel events: whatever is passed, the trace can be read', () => {
  const kinds = Object.keys(kernelEventKinds) as (keyof typeof kernelEventKinds)[];
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.constantFrom(...kinds), fc.array(hostileValue, { minLength: 1, maxLength: 4 })),
        { minLength: 1, maxLength: 10 },
      ),
      (chosen) => {
        const path = fileIn(directory);
        const events = openKernelEvents(path, { ringBytes: 65_536 });
        for (const [kind, makers] of chosen) {
          const values = makers.map((make) => make(() => undefined));
          for (const given of [values, [undefined, ...values]]) {
            callHostile(() => (events[kind as 'fork'] as Loose)(...given));
          }
        }
        events.close();
        const faults = [...checkKernelEvents(path)].filter(({ rule }) => rule === 'unreadable');
        expect(faults).toEqual([]);
        expect([...readKernelEvents(path)].length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 50 },
  );
});
