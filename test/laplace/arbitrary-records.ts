import fc from 'fast-check';
import { kernelEventShapes, LONGEST_NAME } from '../../src/laplace/kernel-event-kinds.js';
import type { KernelEventKind } from '../../src/laplace/kernel-event-kinds.js';
import type { KernelEvents } from '../../src/laplace/write/kernel-events.js';
import type { Wide } from '../../src/laplace/hexadecimal.js';

const MAX_U64 = 2n ** 64n - 1n;
export const u32 = fc.oneof(fc.nat({ max: 15 }), fc.integer({ min: 0, max: 0xffff_ffff }));
/** As callers give 64 bits: small and large numbers, bigints. */
export const wide: fc.Arbitrary<Wide> = fc.oneof(
  fc.nat({ max: 15 }),
  fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  fc.constantFrom<Wide[]>(0xffff_ffff, 0x1_0000_0000, Number.MAX_SAFE_INTEGER, 2n ** 63n, MAX_U64),
  fc.bigInt({ min: 0n, max: MAX_U64 }),
);

export interface AnyReference {
  type: string;
  timestamp: Wide;
  length: number;
  space: number;
  address: number;
}

export const reference: fc.Arbitrary<AnyReference> = fc.record({
  type: fc.oneof(
    fc.constantFrom('r', 'w', 'i'),
    fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  ),
  timestamp: wide,
  length: fc.integer({ min: 0, max: 255 }),
  space: u32,
  address: u32,
});

const fileName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
  .filter((name) => !/[\r\n\0]/.test(name) && Buffer.from(name).toString() === name)
  .filter((name) => Buffer.byteLength(name) <= LONGEST_NAME);

/** A kernel event, as its method takes it and as a reader gives it back. */
export interface AnyKernelEvent {
  kind: KernelEventKind;
  emit: (kernel: KernelEvents) => void;
  fields: Record<string, unknown>;
}

export const kernelEvent: fc.Arbitrary<AnyKernelEvent> = fc
  .constantFrom(...kernelEventShapes)
  .chain(({ kind, tag, fields }) =>
    fc
      .tuple(
        wide,
        ...fields.map(({ type }): fc.Arbitrary<unknown> =>
          type === 'u32' ? u32 : type === 'u64' ? wide : fileName,
        ),
      )
      .map(([timestamp, ...values]) => ({
        kind,
        emit(kernel: KernelEvents): void {
          (kernel[kind] as (...values: unknown[]) => void)(timestamp, ...values);
        },
        fields: {
          kind,
          tag,
          timestamp: BigInt(timestamp),
          ...Object.fromEntries(
            fields.map(({ name, type }, i) => [
              name,
              type === 'u64' ? BigInt(values[i] as Wide) : values[i],
            ]),
          ),
        },
      })),
  );

/** The bytes of references, by the specification's own words and no code of the writer's. */
export function packedByHand(
  references: readonly AnyReference[],
  endian: 'little' | 'big',
): Buffer {
  return Buffer.concat(
    references.map(({ type, timestamp, length, space, address }) => {
      const number = (value: Wide, bytes: number): Buffer => {
        const hex = value.toString(16).padStart(2 * bytes, '0');
        const big = Buffer.from(hex, 'hex');
        return endian === 'big' ? big : big.reverse();
      };
      return Buffer.concat([
        Buffer.from(type, 'latin1'),
        number(timestamp, 8),
        number(length, 1),
        number(space, 4),
        number(address, 4),
      ]);
    }),
  );
}

/** The lines of references, likewise. */
export function linesByHand(references: readonly AnyReference[]): string {
  return references
    .map(({ type, timestamp, length, space, address }) => {
      const numbers = [timestamp, length, space, address].map((value) => value.toString(16));
      return `${[type, ...numbers].join(' ')}\n`;
    })
    .join('');
}
