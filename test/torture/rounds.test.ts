import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/run.mjs', import.meta.url));

function torture(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

// A shorter one of what `npm run torture` does at length.
describe.runIf(process.platform === 'linux')('a process that is ended while it traces', () => {
  it.each(['kill', 'segv', 'abort'])('by %s: every acknowledged event is recovered', (ending) => {
    const { status, said } = torture('--rounds', '3', '--seed', '1', '--ending', ending);
    expect(said).toMatch(/rounds in which something was wrong +0\n/);
    expect(status).toBe(0);
  });

  it('with the disk full: nothing is lost that was not counted', ({ skip }) => {
    const { status, said } = torture('--rounds', '3', '--seed', '1', '--ending', 'tmpfs-full');
    skip(said.startsWith('skipped: '), said.trim());
    expect(said).toMatch(/rounds in which something was wrong +0\n/);
    expect(status).toBe(0);
  });

  it('the torture finds a core that publishes the tail before the write', () => {
    const { status, said } = torture('--rounds', '30', '--seed', '7', '--fault');
    expect(said).toContain('the fault was found');
    expect(status).toBe(0);
  });
});
