/** What a piece of text is; a terminal with colour shows it. */
export type TextRole = 'title' | 'heading' | 'bad' | 'hint' | 'weak' | 'bar';

const CODES: Readonly<Record<TextRole, string>> = {
  title: '1',
  heading: '1;4',
  bad: '31',
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
