import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { main } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const register = fileURLToPath(new URL('../../dist/node/register.js', import.meta.url));
const directory = temporaryDirectory();
/** What Node 18, and 20 before 20.16, lack. */
const old = join(directory, 'old.cjs');
writeFileSync(old, 'process.getBuiltinModule = undefined;');

describe('a Node that is too old', () => {
  it('runs the service untraced, with one warning', () => {
    const program = join(directory, 'program.cjs');
    writeFileSync(
      program,
      `const { isMainThread, Worker } = require('node:worker_threads');
       if (isMainThread) for (let i = 0; i < 3; i++) new Worker(__filename);
       else console.log('works');`,
    );
    for (const flag of ['--require', '--import']) {
      const flags = ['--require', old, flag, register];
      const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, program], {
        cwd: directory,
        encoding: 'utf8',
      });
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'works\n'.repeat(3) });
      expect(stderr.match(/TracewrightWarning: .*/g)).toHaveLength(1);
      expect(stderr).toContain(`Node ${process.versions.node} is too old`);
      expect(stderr).not.toContain('TypeError');
    }
  });

  it('ends the command with a sentence', () => {
    const { status, stderr } = spawnSync(process.execPath, ['--require', old, main, 'dump', 'x'], {
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^tracewright: Node [\d.]+ is too old; it needs .*\n$/);
  });
});
