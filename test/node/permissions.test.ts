import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory, TracedProcess } from './traced-process.js';

const OPTION =
  Number.parseInt(process.versions.node) < 24 ? '--experimental-permission' : '--permission';
const READ = '--allow-fs-read=*';

async function run(flags: string[], env: Record<string, string> = {}) {
  const cwd = temporaryDirectory();
  const program = new TracedProcess('quiet.mjs', {
    flags: [OPTION, ...flags],
    cwd,
    env: { TRACEWRIGHT_DIR: join(cwd, 'own'), ...env },
  });
  const { code, stderr } = await program.ended();
  const isTraced = existsSync(join(cwd, 'own'));
  return { code, warnings: stderr.match(/TracewrightWarning: .*/g) ?? [], isTraced };
}

describe("Node's permission model", () => {
  it.each([
    [[READ], ['--allow-addons', '--allow-fs-write=']],
    [[READ, '--allow-addons'], ['--allow-fs-write=']],
    [[READ, '--allow-fs-write=*'], ['--allow-addons']],
  ])('gets one warning of what is missing, and no trace: %j', async (flags, missing) => {
    const { code, warnings, isTraced } = await run(flags);
    expect({ code, isTraced }).toEqual({ code: 0, isTraced: false });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("this process is not traced: Node's permission model refuses");
    for (const each of missing) expect(warnings[0]).toContain(each);
  });

  it('allows a trace', async () => {
    const { code, warnings, isTraced } = await run([READ, '--allow-fs-write=*', '--allow-addons']);
    expect({ code, warnings, isTraced }).toEqual({ code: 0, warnings: [], isTraced: true });
  });

  it.each([true, false])('is told a directory that is enough; it exists: %s', async (exists) => {
    const directory = join(temporaryDirectory(), 'own');
    if (exists) mkdirSync(directory);
    const env = { TRACEWRIGHT_DIR: directory, TRACEWRIGHT_FORMATS: 'heph,ovni' };
    const refused = await run([READ, '--allow-addons'], env);
    const [option] = /--allow-fs-write=\S+$/.exec(refused.warnings[0]!)!;
    const { warnings } = await run([READ, '--allow-addons', option], env);
    expect(warnings).toEqual([]);
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('.obs'))).toHaveLength(1);
  });

  it('is not taken to allow what is in a directory', async () => {
    const directory = join(temporaryDirectory(), 'own');
    const flags = [READ, '--allow-addons', `--allow-fs-write=${directory}`];
    const { warnings } = await run(flags, { TRACEWRIGHT_DIR: directory });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`add --allow-fs-write=${join(directory, '*')}`);
  });
});
