#!/usr/bin/env node
/** Begins the command. An older Node could not load the rest of the package. */

if (typeof (process as Partial<NodeJS.Process>).getBuiltinModule === 'function') {
  const { runCommandLine } = require('./command-line.js') as typeof import('./command-line.js');
  void runCommandLine(process.argv.slice(2));
} else {
  process.stderr.write(
    `tracewright: Node ${process.versions.node} is too old; it needs 20.19 or later, or 22.12 or later\n`,
  );
  process.exitCode = 2;
}

export {};
