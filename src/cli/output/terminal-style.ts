/** Columns of what is no terminal, or does not say its width. */
const DEFAULT_COLUMNS = 100;
const LEAST_COLUMNS = 40;
const MOST_COLUMNS = 400;

/** How text is laid out on standard output. */
export interface TerminalStyle {
  /** Columns. */
  width: number;
  colour: boolean;
}

/** Width and colour of an output. The variables COLUMNS, NO_COLOR and TERM are respected. */
export function terminalStyle(
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  env: NodeJS.ProcessEnv = process.env,
): TerminalStyle {
  const { COLUMNS = '', NO_COLOR = '', TERM } = env;
  // What is no terminal has neither field.
  const own = isTTY && columns > 0 ? columns : DEFAULT_COLUMNS;
  const width = /^\d{1,6}$/.test(COLUMNS) ? Number(COLUMNS) : own;
  return {
    width: Math.min(Math.max(width, LEAST_COLUMNS), MOST_COLUMNS),
    colour: isTTY && NO_COLOR === '' && TERM !== 'dumb',
  };
}
