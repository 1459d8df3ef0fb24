import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { main } from '../cli/run-command.js';

/** A running `tracewright view`. */
export interface ViewCommand {
  /** With the token. */
  url: string;
  port: number;
  pid: number;
  token: string;
  /** Of a view of the page: `/find?find.text=a`. */
  address(fragment: string): string;
  /** Ends it as Ctrl+C does. @returns its exit code. */
  end(): Promise<number | null>;
  /** Kills it. */
  kill(): Promise<void>;
}

/** Runs the built command and waits for its address. */
export async function startView(paths: string[], ...options: string[]): Promise<ViewCommand> {
  const child = spawn(process.execPath, [main, 'view', ...paths, '--no-open', ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('\n')) resolve(output.trim());
    });
    child.once('close', (code) => {
      reject(new Error(`view ended with ${String(code)}: ${errors}`));
    });
  });
  const { port, hash } = new URL(url);
  const token = new URLSearchParams(hash.slice(1)).get('token')!;
  const closed = once(child, 'close') as Promise<[number | null]>;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await closed)[0];
  };
  return {
    url,
    port: Number(port),
    pid: child.pid!,
    token,
    address: (fragment) =>
      `http://127.0.0.1:${port}/#${fragment}${fragment.includes('?') ? '&' : '?'}token=${token}`,
    end: () => end('SIGINT'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}
