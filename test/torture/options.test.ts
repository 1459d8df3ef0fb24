import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  scripts: Record<string, string>;
};
const commands = Object.values(scripts).flatMap(
  (script) => /^node (torture\/[\w-]+\.mjs)$/.exec(script)?.[1] ?? [],
);

function run(command: string, option: string): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, option], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

it('there are such commands', () => {
  expect(commands.length).toBeGreaterThan(10);
});

it.each(commands)('%s prints its options, and refuses others', (command) => {
  const { status, out, err } = run(command, '--help');
  expect([status, err]).toEqual([0, '']);
  expect(out).toMatch(/^usage: npm run [\w:-]+ -- .*\n\n(.*\n)* {2}--\w+/);
  const wrong = run(command, '--roundz');
  expect([wrong.status, wrong.out]).toEqual([2, '']);
  expect(wrong.err).toMatch(/^Unknown option '--roundz'/);
  expect(wrong.err.endsWith(out)).toBe(true);
});

it('what is to be a number is one', () => {
  const { status, err } = run('torture/keep.mjs', '--rounds=many');
  expect([status, err.split('\n')[0]]).toEqual([2, '--rounds must be a number, got many']);
});
