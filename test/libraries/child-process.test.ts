import { describe, expect, it } from 'vitest';
import { below, lineOf, runScript } from './traced-library.js';

describe('child_process', () => {
  it('has processes below what started them, until they exit', async () => {
    const { spans, stdout } = await runScript('child-processes');
    const lines = (of: string): string[] => below(spans, of).map(lineOf);
    expect(lines('spawn')).toEqual(['node']);
    expect(lines('exec')).toEqual(['sh']);
    expect(lines('callback')).toEqual(['true', 'in callback']);
    expect(lines('fork')).toEqual(['node: EXIT_3']);
    expect(lines('missing')).toEqual(['no-such-program: ENOENT']);
    expect(lines('killed')).toEqual(['node: SIGKILL']);
    expect(lines('sync')).toEqual([]);
    expect(lines('unhandled')).toEqual(['no-such-program: ENOENT']);
    expect(stdout).toContain('uncaught ENOENT\n');
    const [spawned] = below(spans, 'spawn');
    expect(spawned!.kind).toBe('client');
    expect(spawned!.scope).toMatchObject({ name: 'tracewright/child_process' });
    expect(spawned!.attributes).toEqual({
      'process.executable.name': 'node',
      'process.pid': expect.any(Number) as number,
      'process.exit.code': 0,
    });
    expect(Number(spawned!.end - spawned!.start)).toBeGreaterThan(50e6);
    expect(below(spans, 'fork')[0]!.attributes).toMatchObject({ 'process.exit.code': 3 });
    // What is started without a span has none.
    expect(spans.filter(({ kind }) => kind === 'client')).toHaveLength(7);
  });
});
