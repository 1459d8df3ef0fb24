/** Whose SQL it is. They differ in quotes and comments, so in where a literal ends. */
export type Dialect = 'mysql' | 'postgresql' | 'sqlite' | 'mssql';

export const LETTER = /[A-Za-z_\u0080-\uffff]/;
export const WORD = /[\w$\u0080-\uffff]*/y;
export const NUMBER = /(?:0[xX][\da-fA-F]+|0[bB][01]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
export const DOLLAR_QUOTE = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
export const SPACE = /\s+/y;

/** The index after a closing quote; undefined if it is not certain which one that is. */
export function endOfQuoted(
  dialect: Dialect,
  sql: string,
  quote: string,
  from: number,
): number | undefined {
  let at = from;
  for (;;) {
    const found = sql.indexOf(quote, at);
    if (found === -1) return sql.length;
    // Whether a backslash escapes is a setting of the server.
    let backslashes = 0;
    while (sql[found - 1 - backslashes] === '\\' && found - 1 - backslashes >= from) backslashes++;
    const mayEscape = dialect === 'mysql' || dialect === 'postgresql';
    if (mayEscape && backslashes % 2 === 1) return undefined;
    if (sql[found + 1] !== quote) return found + 1;
    at = found + 2;
  }
}

/** Whether two dashes at `at` begin a comment. */
export function isLineComment(dialect: Dialect, sql: string, at: number): boolean {
  return dialect !== 'mysql' || /^(?:\s|$)/.test(sql.slice(at + 2, at + 3));
}
