import { describe, expect, expectTypeOf, test } from 'vitest';
import { declarationOf, events, modelOf, models } from '../../src/ovni/catalog.js';
import { parseSignature } from '../../src/ovni/signature.js';
import { demandedBytes } from '../../src/ovni/write/emit.js';

describe('catalog', () => {
  test('every declared event is under its MCV, of its model, and has a signature', () => {
    const entries = Object.entries(events);
    expect(entries).toHaveLength(365);
    for (const [mcv, { signature, model, description }] of entries) {
      const { mcv: parsed, args } = parseSignature(signature);
      expect(parsed).toBe(mcv);
      expect(models[model].id).toBe(mcv[0]);
      expect(modelOf(mcv)).toBe(model);
      for (const [, name] of description.matchAll(/%[^{]*\{(\w+)\}/g)) {
        expect(args.map((arg) => arg.name)).toContain(name);
      }
    }
  });

  test('declared normal payloads have 0, 4, 8, 12 or 16 bytes', () => {
    for (const { signature } of Object.values(events)) {
      const { jumbo, payloadBytes } = parseSignature(signature);
      if (!jumbo) expect([0, 4, 8, 12, 16]).toContain(payloadBytes);
    }
  });

  test('what emit demands of the events of ovni itself is what they declare', () => {
    for (const [mcv, { model, signature }] of Object.entries(events)) {
      const declared = model === 'ovni' ? parseSignature(signature).payloadBytes : 0;
      expect([mcv, demandedBytes(mcv)]).toEqual([mcv, declared]);
    }
  });

  test('the eight models and their versions', () => {
    expect(Object.keys(models).sort()).toEqual(
      ['kernel', 'mpi', 'nanos6', 'nodes', 'nosv', 'openmp', 'ovni', 'tampi'].sort(),
    );
    expect(models.ovni).toEqual({ id: 'O', version: '1.1.0' });
    expect(models.nosv).toEqual({ id: 'V', version: '2.7.0' });
  });

  test('the signatures are types', () => {
    expectTypeOf(events.OHx.signature).toEqualTypeOf<'OHx(i32 cpu, i32 tid, u64 tag)'>();
    expectTypeOf(events['OF['].model).toEqualTypeOf<'ovni'>();
  });

  test('what is not declared', () => {
    expect(declarationOf('XXa')).toBeUndefined();
    expect(declarationOf('toString')).toBeUndefined();
    expect(declarationOf('OB.')?.model).toBe('ovni');
    expect(modelOf('XXa')).toBeUndefined();
    expect(modelOf('')).toBeUndefined();
  });
});
