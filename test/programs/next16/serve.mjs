import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listen, otherProcess, own } from '../program.mjs';

/**
 * Serves the application as a custom server of Next does.
 *
 * @param upstream the URL of what the application calls; default: another process.
 * @returns its URL, and how it is closed.
 */
export async function serveNext(upstream) {
  globalThis.own = own;
  process.env.NODE_ENV = 'production';
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  process.env.UPSTREAM = upstream ?? (await otherProcess('upstream'));
  const { default: next } = await import('next');
  const app = next({ dev: false, dir: dirname(fileURLToPath(import.meta.url)), quiet: true });
  await app.prepare();
  const handle = app.getRequestHandler();
  const url = await listen(
    createServer((request, response) => handle(request, response)),
    'next',
  );
  return { url, close: () => app.close() };
}
