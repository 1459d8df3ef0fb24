import { TracewrightError } from '../core/errors.js';
import { didYouMean } from '../core/nearest-name.js';
import { version } from '../core/version.js';
import { checkCommand } from './commands/check.js';
import { type Command, EXIT_DONE, EXIT_USAGE, printMessage, UsageError } from './command.js';
import { convertCommand } from './commands/convert.js';
import { dumpCommand } from './commands/dump.js';
import { recoverCommand } from './commands/recover.js';
import { reportCommand } from './commands/report.js';
import { shipCommand } from './commands/ship.js';
import { traceCommand } from './commands/trace.js';
import { viewCommand } from './commands/view.js';
import { ClosedPipe, standardOutput } from './output/text-output.js';

/** Every subcommand. Each is one file in commands/. */
const commands = new Map<string, Command>([
  ['dump', dumpCommand],
  ['check', checkCommand],
  ['convert', convertCommand],
  ['recover', recoverCommand],
  ['report', reportCommand],
  ['trace', traceCommand],
  ['view', viewCommand],
  ['ship', shipCommand],
]);

function overview(): string {
  const width = Math.max(...[...commands.keys()].map((name) => name.length));
  const list = [...commands].map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `Usage: tracewright COMMAND ...

Reads traces in the formats ovni, Heph, DUMPI and Laplace.

  tracewright report traces    begin here: what is wrong, on one screen

Commands:
${list.join('')}
Run \`tracewright COMMAND --help\` for the options of a command.

  --help     print this text
  --version  print the version
`;
}

async function print(text: string): Promise<number> {
  const output = standardOutput();
  await output.write(text);
  await output.end();
  return EXIT_DONE;
}

/** Whether `--help` is among the options. It takes precedence over missing arguments. */
function wantsHelp(args: string[]): boolean {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  return options.includes('--help') || options.includes('-h');
}

async function run([name, ...args]: string[]): Promise<number> {
  if (name === undefined) throw new UsageError(`a command is missing; use one of ${known()}`);
  if (name === '--help' || name === '-h' || name === 'help') {
    const command = commands.get(args[0] ?? '');
    return print(command?.help ?? overview());
  }
  if (name === '--version') return print(`${version}\n`);
  const command = commands.get(name);
  if (command === undefined) {
    const what = name.startsWith('-') ? 'option' : 'command';
    const hint = didYouMean(name, commands.keys()) || `; use one of ${known()}`;
    throw new UsageError(`unknown ${what} ${JSON.stringify(name)}${hint}`);
  }
  return wantsHelp(args) ? print(command.help) : command.run(args);
}

function known(): string {
  return [...commands.keys()].join(', ');
}

// A closed standard error leaves nowhere for messages to go.
process.stderr.on('error', () => undefined);

/** Runs a command, and sets the exit code of the process. */
export async function runCommandLine(args: string[]): Promise<void> {
  try {
    process.exitCode = await run(args);
  } catch (error) {
    if (error instanceof ClosedPipe) {
      process.exitCode = EXIT_DONE;
    } else if (error instanceof UsageError || error instanceof TracewrightError) {
      const command = commands.has(args[0] ?? '') ? `tracewright ${args[0]!}` : 'tracewright';
      printMessage(`${command}: ${error.message}`);
      printMessage(`See \`${command} --help\`.`);
      process.exitCode = EXIT_USAGE;
    } else {
      throw error;
    }
  }
}
