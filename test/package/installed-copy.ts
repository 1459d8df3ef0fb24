import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const directories: string[] = [];

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A new project, with its scripts by name. */
export function newProject(scripts: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-copies-'));
  directories.push(directory);
  for (const [name, text] of Object.entries(scripts)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

/**
 * Puts a copy of the built package into `node_modules` of a directory.
 *
 * @param changes the version that the copy is to have; whether it has no binary.
 */
export function installCopy(
  directory: string,
  changes: { version?: string; withoutBinary?: boolean } = {},
): void {
  const copy = join(directory, 'node_modules', 'tracewright');
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  if (changes.withoutBinary !== true) {
    const binary = join('build', 'Release', 'tracewright.node');
    cpSync(join(root, binary), join(copy, binary));
  }
  if (changes.version !== undefined) rename(join(copy, 'dist'), changes.version);
}

/** Gives the files of a copy another version. */
function rename(directory: string, version: string): void {
  const { version: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  let found = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const text = readFileSync(join(directory, name), 'utf8');
    if (!text.includes(`"${own}"`)) continue;
    writeFileSync(join(directory, name), text.replaceAll(`"${own}"`, `"${version}"`));
    found++;
  }
  if (found === 0) throw new Error(`no file of the package contains its version ${own}`);
}

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs Node in a project. */
export function runNode(
  cwd: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = {
      cwd,
      env: { PATH: process.env['PATH'], TRACEWRIGHT_QUIET: '1', ...env },
      maxBuffer: 1 << 26,
    };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** The built command. */
export const command = join(root, 'dist', 'cli', 'main.js');
