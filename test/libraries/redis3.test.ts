import { expect, it } from 'vitest';
import { describeWith } from './servers.js';
import { below, expectWithin, lineOf, runLibrary } from './traced-library.js';

await describeWith(['Redis'], 'redis 3', () => {
  it('has its commands, which go on where the program called', async () => {
    const { spans, stdout } = await runLibrary('redis3', 'ancient', 'redis');
    const lines = (of: string): string[] => below(spans, of).map(lineOf);
    expect(lines('early').filter((line) => line !== 'INFO' && line !== 'SELECT')).toEqual(['SET']);
    expect(lines('commands')).toEqual(['GET', 'LPUSH: WRONGTYPE']);
    expect(lines('callback')).toEqual(['GET']);
    expect(lines('alone')).toEqual(['LPUSH: WRONGTYPE', 'GET']);
    expect(lines('transaction')).toEqual(['MULTI', 'SET', 'INCR', 'EXEC']);
    expect(stdout).toContain('active true\nevent WRONGTYPE\n');
    for (const each of ['early', 'commands', 'transaction']) expectWithin(spans, each);
    const [get] = below(spans, 'commands');
    expect(get!.kind).toBe('client');
    expect(get!.attributes).toEqual({
      'db.system.name': 'redis',
      'db.namespace': '4',
      'server.address': '127.0.0.1',
      'server.port': 6379,
      'db.operation.name': 'GET',
    });
    expect(get!.scope).toMatchObject({ name: 'tracewright/redis3' });
  });
});
