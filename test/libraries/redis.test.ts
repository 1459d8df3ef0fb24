import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary, treeOf } from './traced-library.js';

const PLACE = {
  'db.system.name': 'redis',
  'db.namespace': '4',
  'server.address': '127.0.0.1',
  'server.port': 6379,
};

await describeWith(['Redis'], 'redis', () => {
  it.each(['newest', 'oldest', 'earlier', 'ancient', 'first'] as const)(
    'its %s version is recorded',
    async (age) => {
      const { spans } = await runLibrary('redis', age, '@redis/client');
      const lines = (of: string): string[] => below(spans, of).map(lineOf);

      expect(lines('connect')).toEqual(['redis connect']);
      const isOfOne = age === 'ancient' || age === 'first';
      const failure = isOfOne ? 'ErrorReply' : 'SimpleError';
      expect(lines('commands')).toEqual(['SET', 'GET', 'LPUSH: WRONGTYPE', `EVAL: ${failure}`]);
      expect(lines('together')).toEqual(['GET', 'INCR', 'GET']);
      // Its commands are not published.
      expect(lines('transaction')).toEqual(['MULTI']);
      const pipeline = spans.find((span) => span.name === 'pipeline')!;
      expect(treeOf(spans, pipeline)).toEqual(['PIPELINE', '  GET', '  TTL']);
      expect(lines('reconnect')).toEqual(['CLIENT', 'redis connect', 'CLIENT', 'DEL']);
      // The first version calls a strategy that is `false`.
      const refusal = age === 'first' ? 'TypeError' : 'ECONNREFUSED';
      expect(lines('refused')).toEqual([`redis connect: ${refusal}`]);
      for (const each of ['commands', 'together', 'transaction']) expectWithin(spans, each);

      const [set, , push] = below(spans, 'commands');
      expect(set!.kind).toBe('client');
      expect(set!.attributes).toEqual({ ...PLACE, 'db.operation.name': 'SET' });
      expect(set!.scope).toMatchObject({ name: 'tracewright/redis' });
      expect(push!.attributes).toMatchObject({ 'db.response.status_code': 'WRONGTYPE' });
      const [multi] = below(spans, 'transaction');
      expect(multi!.attributes).toEqual({
        ...PLACE,
        'db.operation.name': 'MULTI',
        'db.operation.batch.size': 2,
      });
    },
  );

  it('its commands are told apart however often they come', async () => {
    const { spans } = await runLibrary('repeated-commands', 'newest', '@redis/client');
    const get = { ...PLACE, 'db.operation.name': 'GET' };
    const other = { ...get, 'db.namespace': '5' };
    const failed = {
      ...get,
      'error.type': 'WRONGTYPE',
      'db.response.status_code': 'WRONGTYPE',
    };
    const told = (of: string): object[] => {
      const commands = below(spans, of);
      expect(commands.every(({ name, kind }) => name === 'GET' && kind === 'client')).toBe(true);
      expectWithin(spans, of);
      return commands.map(({ attributes }) => attributes);
    };

    expect(told('often')).toEqual(Array.from({ length: 200 }, () => get));
    expect(told('in turn')).toEqual(Array.from({ length: 100 }, (_, i) => (i % 2 ? other : get)));
    expect(told('at once')).toEqual(Array.from({ length: 100 }, () => get));
    expect(told('failing')).toEqual(Array.from({ length: 100 }, (_, i) => (i % 2 ? get : failed)));
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });
});
