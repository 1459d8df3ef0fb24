import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { TracewrightError } from '../../src/core/errors.js';
import { events } from '../../src/ovni/catalog.js';
import { argumentBytes, parseSignature, resolveSignature } from '../../src/ovni/signature.js';
import type {
  Arguments,
  ArgumentType,
  NotAnArgument,
  NotDeclared,
} from '../../src/ovni/signature.js';

describe('parseSignature', () => {
  test('an event without arguments', () => {
    expect(parseSignature('OB.')).toEqual({ mcv: 'OB.', jumbo: false, args: [], payloadBytes: 0 });
  });

  test('arguments follow one another without padding', () => {
    expect(parseSignature('XYz(u8 a, i32 b, u16 c, i64 d)')).toEqual({
      mcv: 'XYz',
      jumbo: false,
      args: [
        { type: 'u8', name: 'a', offset: 0 },
        { type: 'i32', name: 'b', offset: 1 },
        { type: 'u16', name: 'c', offset: 5 },
        { type: 'i64', name: 'd', offset: 7 },
      ],
      payloadBytes: 15,
    });
  });

  test('a jumbo event: offsets count from the start of its data', () => {
    expect(parseSignature('VYc+(u32 typeid, str label)')).toEqual({
      mcv: 'VYc',
      jumbo: true,
      args: [
        { type: 'u32', name: 'typeid', offset: 0 },
        { type: 'str', name: 'label', offset: 4 },
      ],
      payloadBytes: 4,
    });
  });

  test('an MCV may be made of the characters that the notation uses', () => {
    expect(parseSignature('X()').mcv).toBe('X()');
    expect(parseSignature('X(+(i32 a)').args).toHaveLength(1);
    expect(parseSignature('X((+(i32 a)')).toMatchObject({ mcv: 'X((', jumbo: true });
  });

  test.each([
    ['', 'character 1'],
    ['OH', 'character 3'],
    ['O x', 'character 2'],
    ['OHé', 'character 3'],
    ['OHx i32 cpu', 'character 4'],
    ['OHx+', 'character 5'],
    ['OHx(i32 cpu', 'character 12'],
    ['OHx(i32 cpu) ', 'character 14'],
    ['OHx()', 'character 5'],
    ['OHx(i32)', 'character 5'],
    ['OHx(i32 cpu,)', 'character 13'],
    ['OHx(i33 cpu)', 'unknown argument type "i33"'],
    ['OHx(i32 cpu, toString x)', 'character 14'],
    ['OHx(i32 c-u)', 'character 9'],
    ['OHx(i32 cpu, u8 cpu)', 'a second argument named "cpu"'],
    ['OHx(str label)', 'a str in a normal event'],
    ['OHx+(str label, u8 a)', 'an argument after a str'],
    ['OHx(u8 a)', 'the arguments take 1 bytes'],
    ['OHx(u64 a, u64 b, u8 c)', 'the arguments take 17 bytes'],
    [`OHx+(${Array.from({ length: 17 }, (_, i) => `u8 a${i}`).join(', ')})`, 'at most 16'],
  ])('%j is no signature', (text, where) => {
    expect(() => parseSignature(text)).toThrow(TracewrightError);
    expect(() => parseSignature(text)).toThrow(where);
    try {
      parseSignature(text);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'signature', value: text });
    }
  });

  test('something other than a string', () => {
    expect(() => parseSignature(7 as unknown as string)).toThrow(/must be a string, got 7/);
  });

  test('any text gives a signature or a typed error', () => {
    const pieces = ['OHx', '+', '(', ')', ',', ' ', 'i32', 'u8', 'u64', 'str', 'cpu', 'é', ''];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        try {
          const { args, payloadBytes, jumbo } = parseSignature(parts.join(''));
          if (!jumbo)
            expect(payloadBytes === 0 || (payloadBytes >= 2 && payloadBytes <= 16)).toBe(true);
          expect(args.length > 0 || !jumbo).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(TracewrightError);
        }
      }),
    );
  });

  test('what is put together from types is taken apart into the same types', () => {
    const types = Object.keys(argumentBytes) as Exclude<ArgumentType, 'str'>[];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 15 }),
        fc.boolean(),
        (list, withStr) => {
          const all = withStr ? [...list, 'str'] : list;
          const text = `ABC+(${all.map((type, i) => `${type} a${i}`).join(', ')})`;
          const signature = parseSignature(text);
          expect(signature.args.map((arg) => arg.type)).toEqual(all);
          let offset = 0;
          for (const arg of signature.args) {
            expect(arg.offset).toBe(offset);
            if (arg.type !== 'str') offset += argumentBytes[arg.type];
          }
          expect(signature.payloadBytes).toBe(offset);
        },
      ),
    );
  });
});

describe('resolveSignature', () => {
  test('a declared MCV stands for its whole signature', () => {
    expect(resolveSignature('OHx')).toEqual(parseSignature(events.OHx.signature));
    expect(resolveSignature('VYc').jumbo).toBe(true);
  });

  test('any other MCV has no arguments; an own signature wins over the catalog', () => {
    expect(resolveSignature('XXa').args).toEqual([]);
    expect(resolveSignature('OHx(u32 a)').args).toHaveLength(1);
  });
});

describe('an event of a model of the emulator', () => {
  test.each([
    ['OHX', /model ovni declares no event OHX; expected .* such as OHx$/],
    ['OHz', /such as OHC OHc OHe OHp OHr OHw OHx/],
    ['VYC+(u32 typeid, str label)', /model nosv declares no event VYC; .* such as VYc$/],
    ['6zz(u32 a)', /model nanos6 .* or the letter of a model of your own/],
    ['OAs(i32 cpu, i32 tid)', /expected OAs\(i32 cpu\)/],
    ['VYc(u32 typeid, u32 label)', /expected VYc\+\(u32 typeid, str label\)/],
    ['VTx(u32 taskid)', /expected VTx\(/],
  ])('%s is refused, with what there is near it', (text, message) => {
    expect(() => resolveSignature(text)).toThrow(TracewrightError);
    expect(() => resolveSignature(text)).toThrow(message);
    expect(() => parseSignature(text)).not.toThrow();
  });

  test.each([
    'OB.(u64 a)',
    'OHC(i32 cpu)',
    'OHx(i32 cpu)',
    'XHX',
    'ohx(u8 a, u8 b)',
    'VYc+(u32 a, str b)',
  ])('%s is taken as it is', (text) => {
    expect(resolveSignature(text)).toEqual(parseSignature(text));
  });

  test.each(Object.values(events).map(({ signature }) => signature))('%s', (signature) => {
    expect(resolveSignature(signature)).toEqual(parseSignature(signature));
  });
});

describe('Arguments', () => {
  test('types come from the signature itself', () => {
    expectTypeOf<Arguments<'OB.'>>().toEqualTypeOf<[]>();
    expectTypeOf<Arguments<'OHx(i32 cpu, i32 tid, u64 tag)'>>().toEqualTypeOf<
      [number, number, number | bigint]
    >();
    expectTypeOf<Arguments<'ABC(u8 a,i8 b, u16 c,  i16 d, u32 e )'>>().toEqualTypeOf<
      [number, number, number, number, number]
    >();
    expectTypeOf<Arguments<'VYc+(u32 typeid, str label)'>>().toEqualTypeOf<[number, string]>();
    expectTypeOf<Arguments<'ABC(i64 a)'>>().toEqualTypeOf<[number | bigint]>();
    expectTypeOf<Arguments<'X(+(i32 a)'>>().toEqualTypeOf<[number]>();
  });

  test('a declared MCV has the types of its signature, another has none', () => {
    expectTypeOf<Arguments<'OHx'>>().toEqualTypeOf<[number, number, number | bigint]>();
    expectTypeOf<Arguments<'VYc'>>().toEqualTypeOf<[number, string]>();
    expectTypeOf<Arguments<'OM['>>().toEqualTypeOf<[number | bigint, number]>();
    expectTypeOf<Arguments<'OB.'>>().toEqualTypeOf<[]>();
    expectTypeOf<Arguments<'XXa'>>().toEqualTypeOf<[]>();
  });

  test('no value fits an event that its model does not declare', () => {
    expectTypeOf<Arguments<'OHX'>>().toEqualTypeOf<[NotDeclared<'OHX'>]>();
    expectTypeOf<Arguments<'6Tz(u32 a)'>>().toEqualTypeOf<[NotDeclared<'6Tz'>]>();
    expectTypeOf<Arguments<'OHx(i32 cpu)'>>().toEqualTypeOf<[number]>();
  });

  test('a signature that is not known until run time takes anything', () => {
    expectTypeOf<Arguments<string>>().toEqualTypeOf<(number | bigint | string)[]>();
  });

  test('no value fits an argument that cannot be read', () => {
    expectTypeOf<Arguments<'ABC(i33 cpu)'>>().toEqualTypeOf<[NotAnArgument<'i33 cpu'>]>();
    expectTypeOf<Arguments<'ABC(i32)'>>().toEqualTypeOf<[NotAnArgument<'i32'>]>();
    expectTypeOf<Arguments<'ABCD'>>().toEqualTypeOf<[NotAnArgument<'D'>]>();
  });

  test('a function typed by its signature', () => {
    const event = <S extends string>(signature: S): ((...args: Arguments<S>) => number) => {
      const { args } = resolveSignature(signature);
      return (...values) => (values.length === args.length ? values.length : -1);
    };
    expect(event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 1, 2n)).toBe(3);
    expect(event('VYc')(1, 'label')).toBe(2);
    // @ts-expect-error a label is no number
    expect(event('VYc')(1, 2)).toBe(2);
    // @ts-expect-error the tag is missing
    expect(event('OHx')(0, 1)).toBe(-1);
  });
});
