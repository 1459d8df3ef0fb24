import { terminalText } from '../core/terminal-text.js';

/** Says something on standard error, in one line whatever the names in it. */
export function tell(text: string): void {
  process.stderr.write(`${terminalText(text)}\n`);
}
