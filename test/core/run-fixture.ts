import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** How a child process went. */
export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface FixtureOptions {
  /** Handed to the script as JSON in `process.argv[2]`. */
  input?: unknown;
  env?: Record<string, string>;
  execArgv?: string[];
  cwd?: string;
  /** Called with every piece of standard output. */
  onOutput?: (child: ChildProcess, text: string) => void;
}

/** @param name `'folder/script.mjs'` is in test/folder/fixtures, `'script.mjs'` in test/fixtures. */
export function fixturePath(name: string): string {
  const path = name.includes('/') ? name.replace('/', '/fixtures/') : `fixtures/${name}`;
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/**
 * Runs a script of test/fixtures in a Node of its own and waits for its end. The scripts import the
 * package by its name, which is what `npm run build` has made.
 */
export function runFixture(name: string, options: FixtureOptions = {}): Promise<Outcome> {
  return runScript(fixturePath(name), options);
}

export function runScript(path: string, options: FixtureOptions = {}): Promise<Outcome> {
  const { input = {}, env = {}, execArgv = [], cwd, onOutput } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...execArgv, path, JSON.stringify(input)], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onOutput?.(child, text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
    });
  });
}

/** Like {@link runFixture}, for a script that must end well: the JSON that it prints last. */
export async function resultOfFixture<T>(name: string, options: FixtureOptions = {}): Promise<T> {
  const { code, signal, stdout, stderr } = await runFixture(name, options);
  if (code !== 0) {
    throw new Error(`${name} ended with ${String(signal ?? code)}: ${stderr}\n${stdout}`);
  }
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as T;
}
