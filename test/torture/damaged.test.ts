import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/damaged.mjs', import.meta.url));

// A shorter one of what `npm run torture:damaged` does at length.
describe.runIf(process.platform === 'linux')('a damaged trace of a killed process', () => {
  it.each([
    ['heph', '12'],
    ['ovni 3', '4'],
    ['dumpi', '4'],
    ['laplace-text', '4'],
  ])('keeps what could be read, and its recovery says what is gone: %s', (format, cuts) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [command, '--format', format, '--cuts', cuts, '--seed', '1'],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(RegExp(`^${cuts} damaged traces: \\d+ had lost records`, 'm'));
    expect(status).toBe(0);
  });
});
