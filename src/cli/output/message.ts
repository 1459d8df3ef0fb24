import { terminalText } from '../../core/terminal-text.js';

/** Prints one line on standard error. Control characters in it, for instance in names, are escaped. */
export function printMessage(text: string): void {
  process.stderr.write(`${terminalText(text)}\n`);
}
