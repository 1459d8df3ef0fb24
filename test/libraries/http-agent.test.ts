import { expect, it } from 'vitest';
import { below, childrenOf, lineOf, runScript } from './traced-library.js';

it('requests of node:http say for how long they waited for a connection of their agent', async () => {
  const { spans } = await runScript('http-agent');
  const callOf = (of: string) => below(spans, of)[0]!;
  // The server is in the same process.
  const waitsOf = (of: string) =>
    childrenOf(spans, callOf(of)).filter(({ kind }) => kind === 'internal');
  const lines = (of: string): string[] => waitsOf(of).map(lineOf);
  for (const name of ['alone', 'holding', 'closing', 'too long', 'one', 'two']) {
    expect(lines(name), name).toEqual([]);
  }
  for (const name of ['waiting', 'last', 'opening']) {
    expect(lines(name), name).toEqual(['http pool']);
  }
  expect(lines('given up')).toEqual(['http pool: TimeoutError']);
  // The program has given it up.
  expect(lines('aborted')).toEqual(['http pool']);
  expect(callOf('aborted')).toMatchObject({ status: { code: 'unset' }, unfinished: false });
  const waitOf = (of: string) => waitsOf(of)[0]!;
  for (const [name, least] of [
    ['waiting', 1e6],
    ['last', 140e6],
    ['opening', 1e6],
  ] as const) {
    const { start, end } = waitOf(name);
    expect(Number(end - start), name).toBeGreaterThan(least);
    expect(Number(end - start), name).toBeLessThanOrEqual(
      Number(callOf(name).end - callOf(name).start),
    );
  }
  // A link says who had the connection before, and for how long.
  for (const [name, holder] of [
    ['waiting', 'holding'],
    ['last', 'waiting'],
  ] as const) {
    const { traceId, spanId } = callOf(holder);
    expect(waitOf(name).links, name).toMatchObject([{ traceId, spanId }]);
    const held = Number(waitOf(name).links[0]!.attributes['tracewright.pool.held']);
    expect(held, name).toBeGreaterThan(140e6);
  }
});
