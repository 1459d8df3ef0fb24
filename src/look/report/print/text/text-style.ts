/** The role of a piece of text, which decides its colour. */
export type TextRole = 'title' | 'heading' | 'bad' | 'good' | 'hint' | 'weak' | 'bar';

const CODES: Readonly<Record<TextRole, string>> = {
  title: '1',
  heading: '1;4',
  bad: '31',
  good: '32',
  hint: '33',
  weak: '2',
  bar: '36',
};

/** How text is printed. */
export interface TextStyle {
  /** Columns of the terminal. */
  width: number;
  paint: (role: TextRole, text: string) => string;
}

/** @param colour whether the terminal shows colours, and its user wants them. */
export function textStyle(width: number, colour: boolean): TextStyle {
  const paint = (role: TextRole, text: string): string =>
    text === '' ? '' : `\u001b[${CODES[role]}m${text}\u001b[0m`;
  return { width, paint: colour ? paint : (_, text) => text };
}

/** Columns of what is no terminal, or does not say its width. */
const DEFAULT_COLUMNS = 100;
const LEAST_COLUMNS = 40;
const MOST_COLUMNS = 400;

/** How text is laid out on standard output. */
interface TerminalStyle {
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
