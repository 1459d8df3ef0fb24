import { expect, it, vi } from 'vitest';
import type { ParseArgsConfig } from 'node:util';
import { checkCommand } from '../../src/cli/commands/check.js';
import { convertCommand } from '../../src/cli/commands/convert.js';
import { dumpCommand } from '../../src/cli/commands/dump.js';
import { recoverCommand } from '../../src/cli/commands/recover.js';
import { reportCommand } from '../../src/cli/commands/report.js';
import { shipCommand } from '../../src/cli/commands/ship.js';
import { traceCommand } from '../../src/cli/commands/trace.js';
import { viewCommand } from '../../src/cli/commands/view.js';
import type { Command } from '../../src/cli/command.js';

const parsed = vi.hoisted(() => ({ options: [] as string[] }));

// Node's own, which also notes the options that a command asks for.
vi.mock('node:util', async (importActual) => {
  const util = await importActual<typeof import('node:util')>();
  const parseArgs = (config: ParseArgsConfig): unknown => {
    parsed.options = Object.keys(config.options ?? {});
    return util.parseArgs(config);
  };
  return { ...util, parseArgs };
});

const COMMANDS: [string, Command][] = [
  ['check', checkCommand],
  ['convert', convertCommand],
  ['dump', dumpCommand],
  ['recover', recoverCommand],
  ['report', reportCommand],
  ['ship', shipCommand],
  ['trace', traceCommand],
  ['view', viewCommand],
];

const named = (text: string): string[] => [
  ...new Set([...text.matchAll(/(?<=[\s[|])--([a-z][a-z-]*)/g)].map(([, name]) => name!)),
];

it.each(COMMANDS)(
  '%s --help names each option twice, in the usage and with its meaning',
  async (name, command) => {
    parsed.options = [];
    await expect(command.run([])).rejects.toThrow('is missing');
    const { options } = parsed;
    expect(options.length).toBeGreaterThan(3);
    const { help } = command;
    const usage = help.slice(0, help.search(/\n\n(?![A-Z]+ is )/));
    expect(usage).toContain(`Usage: tracewright ${name} `);
    expect(named(usage).sort()).toEqual([...options].sort());
    const meanings = named(help.slice(usage.length));
    expect(options.filter((option) => !meanings.includes(option))).toEqual([]);
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
  },
);
