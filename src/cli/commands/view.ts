import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { ViewOptions, ViewServer } from '../../look/server/view-server.js';
import { type Command, parseCommandLine, printMessage, UsageError } from '../command.js';
import { indexHelp, indexOptions, openIndex } from '../index-options.js';
import { checkInput, inputHelp, inputOptions, pathHelp } from '../input-options.js';
import { standardOutput } from '../output/text-output.js';

/** `tracewright view`. */
export const viewCommand: Command = {
  summary: 'show traces in a browser, from this machine',
  help: `Usage: tracewright view PATH... [--port N] [--no-open] [--live]
                       [--ring-dir DIR]... [--cache DIR|off] [--clear-cache]
                       [--format F] [--endian E]

Serves a page that shows the traces at PATH, and opens it in a browser. Nothing
leaves this machine: the page is on 127.0.0.1 only, and has no other source.
The address contains a token. Without it nobody reads anything.

${pathHelp}
  --port        the port of the page, 0 to 65535. Default: 0, any free one
  --no-open     print the address only
  --live        follow traces that are being written
${indexHelp}${inputHelp}  --help        print this text

End it with Ctrl+C. Through ssh, use \`ssh -L 8080:127.0.0.1:PORT HOST\`, and
replace the port in the address by 8080.

Exit codes
  0  done
  1  something cannot be read: standard error and the page name the file and the
     byte, and the page shows everything else
  2  wrong usage, or nothing to read
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      {
        port: { type: 'string' },
        'no-open': { type: 'boolean' },
        live: { type: 'boolean' },
        ...indexOptions,
        ...inputOptions,
      },
      ['PATH...'],
    );
    const port = checkPort(values.port);
    const { index, exitCode } = await openIndex('view', positionals, checkInput(values), values);
    const server = await start({
      index,
      paths: positionals,
      port,
      live: values.live === true,
      pageDirectory: join(__dirname, '..', 'page'),
    });
    const ended = signalToEnd();
    const output = standardOutput();
    await output.write(`${server.url}\n`);
    await output.flush();
    const { openBrowser } =
      require('../../look/server/open-browser.js') as typeof import('../../look/server/open-browser.js');
    const opened = values['no-open'] !== true && (await openBrowser(server.url));
    // After the browser, which would inherit it.
    if (values.live === true) lowerPriority();
    if (!opened) printMessage('Open this address in a browser. Ctrl+C ends.');
    await ended;
    await server.close();
    return exitCode;
  },
};

/** @throws UsageError unless it is a port. */
function checkPort(text = '0'): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port must be a number from 0 to 65535, got ${JSON.stringify(text)}`);
}

async function start(options: ViewOptions): Promise<ViewServer> {
  const { startViewServer } =
    require('../../look/server/view-server.js') as typeof import('../../look/server/view-server.js');
  try {
    return await startViewServer(options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new UsageError(`port ${options.port} is in use; use another --port, or none`);
  }
}

function signalToEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        resolve();
      });
    }
  });
}

/** Others get three times as much of a processor that has too much to do. */
const NICENESS = 5;

/**
 * Lets the services that are followed go before this process, where a processor has to do for both. Processes
 * that it starts afterwards inherit that.
 */
function lowerPriority(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, NICENESS);
    } catch {
      // It has ended, or the system does not allow it: everything works without.
    }
  }
}

/** On Linux each thread has a priority of its own. */
function threads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [process.pid];
  }
}
