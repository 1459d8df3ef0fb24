import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary, treeOf } from './traced-library.js';

const PLACE = {
  'db.system.name': 'redis',
  'db.namespace': '3',
  'server.address': '127.0.0.1',
  'server.port': 6379,
};

await describeWith(['Redis'], 'ioredis', () => {
  it.each(['newest', 'oldest', 'earlier', 'ancient'] as const)(
    'its %s version is recorded',
    async (age) => {
      const { spans } = await runLibrary('ioredis', age, 'ioredis');
      const lines = (of: string): string[] => below(spans, of).map(lineOf);

      // Commands of its own are the connection's.
      expect(lines('connect')).toEqual(['redis connect']);
      // The class of the error, whose name a script chooses.
      const failure = age === 'newest' ? 'SimpleError' : 'ReplyError';
      expect(lines('commands')).toEqual(['SET', 'GET', 'LPUSH: WRONGTYPE', `EVAL: ${failure}`]);
      expect(lines('together')).toEqual(['GET', 'INCR', 'GET']);
      const transaction = spans.find((span) => span.name === 'transaction')!;
      const commands = ['MULTI', 'SET', 'INCR', 'EXEC'];
      // Before 5.11 it is a command as others are.
      const nests = age === 'newest' || age === 'oldest';
      expect(treeOf(spans, transaction)).toEqual(
        nests ? ['MULTI', ...commands.map((line) => `  ${line}`)] : commands,
      );
      expect(lines('pipeline')).toEqual(['GET', 'TTL']);
      expect(lines('timeout')).toContain('BLPOP: timeout');
      expect(lines('refused')).toEqual(['redis connect: Error']);
      for (const each of ['commands', 'together', 'pipeline']) expectWithin(spans, each);

      const [set, , push] = below(spans, 'commands');
      expect(set!.kind).toBe('client');
      expect(set!.attributes).toEqual({ ...PLACE, 'db.operation.name': 'SET' });
      expect(set!.scope).toMatchObject({ name: 'tracewright/ioredis' });
      expect(set!.scope?.schemaUrl).toMatch(/1\.44\.0$/);
      expect(push!.status).toEqual({ code: 'error', message: '' });
      expect(push!.events).toEqual([]);
      expect(push!.attributes).toEqual({
        ...PLACE,
        'db.operation.name': 'LPUSH',
        'error.type': 'WRONGTYPE',
        'db.response.status_code': 'WRONGTYPE',
      });
      const [multi] = below(spans, 'transaction');
      expect(multi!.attributes).toEqual({
        ...PLACE,
        'db.operation.name': 'MULTI',
        ...(nests ? { 'db.operation.batch.size': 2 } : {}),
      });
      // A connection that is made again belongs to no request.
      const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
      expect(roots.map(lineOf).sort()).toEqual(['first', 'redis connect']);
      expect(lines('reconnect').at(-1)).toBe('DEL');
    },
  );
});
