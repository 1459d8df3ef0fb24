import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** How long a browser may take to start and read the file, in ms. */
const FILE_LIFETIME = 60_000;

/**
 * Asks the desktop to open a URL. Every user of a machine sees the arguments of a process, so those
 * name a private file that leads to the URL.
 *
 * @returns whether there is a desktop with a command for that.
 */
export function openBrowser(url: string): Promise<boolean> {
  const command = COMMANDS[process.platform];
  const hasDesktop =
    process.platform !== 'linux' ||
    process.env['DISPLAY'] !== undefined ||
    process.env['WAYLAND_DISPLAY'] !== undefined;
  if (command === undefined || !hasDesktop) return Promise.resolve(false);
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-view-'));
  const remove = (): void => {
    rmSync(directory, { recursive: true, force: true });
  };
  const file = join(directory, 'open.html');
  const refresh = `<meta http-equiv="refresh" content="0; url=${url}">`;
  writeFileSync(file, `<!doctype html><title>Tracewright</title>${refresh}\n`, { mode: 0o600 });
  process.once('exit', remove);
  setTimeout(remove, FILE_LIFETIME).unref();
  const [name, ...args] = command;
  const address = process.platform === 'win32' ? pathToFileURL(file).href : file;
  return new Promise((resolve) => {
    const child = spawn(name, [...args, address], { stdio: 'ignore', detached: true });
    child.once('error', () => {
      remove();
      resolve(false);
    });
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
