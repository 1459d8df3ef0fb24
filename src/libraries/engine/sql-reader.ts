import * as words from './sql-words.js';
import {
  DOLLAR_QUOTE,
  endOfQuoted,
  isLineComment,
  LETTER,
  NUMBER,
  SPACE,
  WORD,
} from './sql-words.js';
import type { Dialect, Guarded } from './sql-words.js';

/** The parts of a statement that may be recorded. */
export interface SqlReading {
  /** Operations and tables in their order: `INSERT orders SELECT carts`; empty if nothing is known. */
  summary: string;
  /** The statement with `?` for its literals. Undefined: not wanted, or it is not certain what is a literal. */
  text: string | undefined;
}

/** Characters that are read of a statement: the rest of it is mostly values. */
const MAX_READ = 8192;
/** As the conventions have it. */
const MAX_SUMMARY = 255;
const MAX_TEXT = 2000;
const MAX_NAME = 128;

/** Reads a statement once, from its beginning until it is not certain any more what is a literal. */
class SqlReader {
  readonly #dialect: Dialect;
  readonly #sql: string;
  readonly #withText: boolean;
  #at = 0;
  /** Whether everything so far was certain. */
  #isCertain = true;
  #summary = '';
  #isSummaryFull = false;
  #text = '';
  /** The word before, and what the statement does. */
  #before = '';
  #statement = '';
  /** Whether an `UPDATE` has had its `SET`. */
  #hasSet = false;
  #isAtStart = true;
  #expectsTable = false;
  /** The depth of parentheses at which a comma is followed by another table; -1: none. */
  #listDepth = -1;
  #depth = 0;
  /** The depth of a function with a `FROM` of its own; -1: none. */
  #functionDepth = -1;
  /** Absent: the words of the statement are keywords and names. */
  #guarded: Guarded | undefined = undefined;
  /** Of such a statement: names that are yet to come. */
  #names = 0;
  /** Whether a point now is followed by the rest of such a name. */
  #isInName = false;
  /** Whether the kind of object that a definition is of is yet to come. */
  #isBeforeObject = false;
  /** Whether data follows the statement. */
  #takesData = false;

  constructor(dialect: Dialect, sql: string, withText: boolean) {
    this.#dialect = dialect;
    this.#sql = sql.length > MAX_READ ? sql.slice(0, MAX_READ) : sql;
    this.#withText = withText;
  }

  read(isWhole: boolean): SqlReading {
    const { length } = this.#sql;
    while (this.#at < length && this.#isCertain) this.#readToken();
    const text = this.#text.trim();
    const isText = this.#withText && this.#isCertain;
    const isCut = !isWhole || text.length > MAX_TEXT;
    return {
      summary: this.#summary,
      text: isText ? (isCut ? `${text.slice(0, MAX_TEXT)}…` : text) : undefined,
    };
  }

  #readToken(): void {
    const character = this.#sql[this.#at]!;
    const next = this.#sql[this.#at + 1];
    if (character === "'") this.#readString("'");
    else if (character === '"') this.#readDoubleQuoted();
    else if (character === '`') this.#readName('`');
    else if (character === '[' && this.#dialect === 'mssql') this.#readName(']');
    else if (character === '-' && next === '-' && isLineComment(this.#dialect, this.#sql, this.#at))
      this.#skipLine();
    else if (character === '#' && this.#dialect === 'mysql') this.#skipLine();
    else if (character === '/' && next === '*') this.#skipComment();
    else if (character === '$' && this.#dialect === 'postgresql') this.#readDollar();
    else if (LETTER.test(character)) this.#readWord();
    else if (/\d/.test(character) || (character === '.' && /\d/.test(next ?? '')))
      this.#readNumber();
    else if (/\s/.test(character)) this.#readSpace();
    else this.#readPunctuation(character);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#sql)?.[0] ?? '';
  }

  /** Takes `length` characters as they are. */
  #keep(length: number): void {
    if (this.#withText) this.#text += this.#sql.slice(this.#at, this.#at + length);
    this.#at += length;
  }

  #keepLiteral(end: number): void {
    if (this.#withText) this.#text += '?';
    this.#at = end;
    this.#expectsTable = false;
    this.#isAtStart = false;
    this.#isInName = false;
    this.#before = '';
  }

  #readString(quote: string): void {
    const end = endOfQuoted(this.#dialect, this.#sql, quote, this.#at + 1);
    if (end === undefined) this.#isCertain = false;
    else this.#keepLiteral(end);
  }

  /** The standard's quoted name; for MySQL and old settings of SQL Server a string. */
  #readDoubleQuoted(): void {
    if (this.#dialect === 'postgresql') this.#readName('"');
    else this.#readString('"');
  }

  #readName(close: string): void {
    const sql = this.#sql;
    const end = sql.indexOf(close, this.#at + 1);
    if (end === -1 || sql[end + 1] === close) {
      this.#isCertain = false;
      return;
    }
    const name = sql.slice(this.#at + 1, end);
    if (this.#mayBeValue('')) {
      this.#keepLiteral(end + 1);
      return;
    }
    this.#keep(end + 1 - this.#at);
    this.#acceptName(name);
  }

  #skipLine(): void {
    const end = this.#sql.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#sql.length : end;
  }

  /** PostgreSQL nests comments, and MySQL runs some of them. */
  #skipComment(): void {
    const end = this.#sql.indexOf('*/', this.#at + 2);
    const isPlain = end !== -1 && !this.#sql.slice(this.#at + 2, end).includes('/*');
    if (!isPlain || this.#sql[this.#at + 2] === '!') this.#isCertain = false;
    else this.#at = end + 2;
  }

  #readDollar(): void {
    const tag = this.#match(DOLLAR_QUOTE);
    if (tag === '') {
      // The number of a parameter belongs to it.
      const digits = /^\$\d*/.exec(this.#sql.slice(this.#at, this.#at + 12))![0];
      this.#expectsTable = false;
      this.#keep(digits.length);
      return;
    }
    const end = this.#sql.indexOf(tag, this.#at + tag.length);
    this.#keepLiteral(end === -1 ? this.#sql.length : end + tag.length);
  }

  #readNumber(): void {
    const length = Math.max(1, this.#match(NUMBER).length);
    this.#keepLiteral(this.#at + length);
    // What is left of a word that begins with digits is not a name.
    const rest = this.#match(WORD);
    this.#at += rest.length;
  }

  #readSpace(): void {
    const { length } = this.#match(SPACE);
    this.#isInName = false;
    if (this.#withText && !this.#text.endsWith(' ')) this.#text += ' ';
    this.#at += length;
  }

  #readPunctuation(character: string): void {
    this.#keep(1);
    if (character !== '.') this.#isInName = false;
    switch (character) {
      case '(':
        this.#depth++;
        if (words.FROM_WITHIN.has(this.#before)) this.#functionDepth = this.#depth;
        this.#expectsTable = false;
        break;
      case ')':
        if (this.#functionDepth === this.#depth) this.#functionDepth = -1;
        if (this.#listDepth === this.#depth) this.#listDepth = -1;
        this.#depth--;
        break;
      case ',':
        this.#expectsTable = this.#listDepth === this.#depth;
        break;
      case ';':
        if (this.#takesData) {
          this.#keepLiteral(this.#sql.length);
          return;
        }
        this.#isAtStart = true;
        this.#guarded = undefined;
        this.#isBeforeObject = false;
        this.#statement = '';
        this.#depth = 0;
        this.#listDepth = -1;
        this.#functionDepth = -1;
        this.#expectsTable = false;
        break;
      default:
        if (character !== '.') this.#expectsTable = false;
    }
    this.#before = character;
  }

  #readWord(): void {
    const word = this.#match(WORD);
    const upper = word.toUpperCase();
    const isPrefixOfString = this.#sql[this.#at + word.length] === "'" && word.length <= 2;
    if (this.#dialect === 'mssql' && !this.#isAtStart && this.#beginsStatement(upper)) {
      this.#guarded ??= words.NO_NAME;
    }
    if (this.#isBeforeObject) this.#acceptObject(upper);
    if (!isPrefixOfString && this.#mayBeValue(upper)) {
      this.#readValue(word, upper);
      return;
    }
    this.#keep(word.length);
    const isOfGuarded = this.#guarded?.hasInner === false && this.#guarded.keywords.has(upper);
    if (!isPrefixOfString && !isOfGuarded) this.#acceptWord(word, upper);
  }

  /** Whether a word begins a statement of SQL Server, without a semicolon before it. */
  #beginsStatement(upper: string): boolean {
    if (upper !== 'SET') return words.BEGINS_ANYWHERE.has(upper);
    const isOfUpdate = this.#before === 'UPDATE' || (this.#statement === 'UPDATE' && !this.#hasSet);
    this.#hasSet = true;
    return !isOfUpdate;
  }

  /** A word that may be a value, or of a statement within the statement. */
  #readValue(word: string, upper: string): void {
    if (this.#guarded?.hasInner !== true) {
      this.#keepLiteral(this.#at + word.length);
      return;
    }
    const text = `${this.#text}?`;
    this.#at += word.length;
    this.#acceptWord(word, upper);
    if (this.#withText) this.#text = text;
  }

  /** The words after `CREATE` and its like: of a table and its like they are names, of others perhaps values. */
  #acceptObject(upper: string): void {
    if (words.BEFORE_OBJECT.has(upper)) return;
    this.#isBeforeObject = false;
    if (!words.CLEAR_OBJECTS.has(upper)) this.#guard(words.OTHER_OBJECT);
  }

  #guard(statement: Guarded | undefined): void {
    this.#guarded = statement;
    this.#names = statement?.names ?? 0;
    this.#takesData = false;
  }

  /** Whether a word, or a quoted name, may be a value by the grammar of the statement. */
  #mayBeValue(upper: string): boolean {
    const statement = this.#guarded;
    if (statement === undefined)
      return words.DEFINITIONS.has(this.#statement) && this.#before === '=';
    if (upper !== '' && statement.keywords.has(upper)) {
      if (upper === 'STDIN') this.#takesData = true;
      return false;
    }
    if (words.OBJECTS.has(upper) && this.#before === this.#statement) return false;
    // The rest of a name that is qualified.
    if (this.#names === 0) return !(this.#before === '.' && this.#isInName);
    this.#names--;
    this.#isInName = true;
    return false;
  }

  #acceptWord(word: string, upper: string): void {
    const before = this.#before;
    const isBetween = words.isBetween(this.#dialect, this.#statement, before, upper);
    const isDefined = words.DEFINITIONS.has(this.#statement) && before === this.#statement;
    if (this.#isAtStart) {
      this.#begin(upper);
    } else if (isDefined && words.BEFORE_OBJECT.has(upper)) {
      return;
    } else if (this.#expectsTable && !isBetween && !words.INNER.has(upper)) {
      this.#acceptName(word);
      return;
    } else if (upper === 'SELECT' || (words.INNER.has(upper) && words.isBracket(before))) {
      this.#operation(upper);
    } else if (isDefined && words.OBJECTS.has(upper)) {
      this.#add(upper);
      this.#expectsTable = upper === 'TABLE' || upper === 'VIEW';
    } else if (words.BEFORE_TABLE.has(upper) && this.#precedesTable(upper, before)) {
      this.#expectsTable = true;
      this.#listDepth = upper === 'FROM' ? this.#depth : -1;
    } else if (!isBetween) {
      this.#expectsTable = false;
      // An alias keeps the list, the next clause ends it.
      if (words.CLAUSES.has(upper)) this.#listDepth = -1;
    }
    this.#before = upper;
  }

  #begin(upper: string): void {
    if (upper === 'WITH') {
      this.#isAtStart = false;
      this.#statement = upper;
      return;
    }
    this.#isAtStart = words.PREFIXES.has(upper);
    if (words.STATEMENTS.has(upper)) this.#operation(upper);
    else this.#isCertain = false;
  }

  #operation(upper: string): void {
    if (this.#guarded === undefined) {
      this.#guard(words.GUARDED[upper]);
      this.#isBeforeObject = words.DEFINITIONS.has(upper);
    }
    this.#statement = upper;
    this.#hasSet = false;
    this.#add(upper);
    this.#expectsTable = words.BEFORE_TABLE.has(upper);
    this.#listDepth = -1;
  }

  #precedesTable(upper: string, before: string): boolean {
    if (upper === 'FROM') return this.#functionDepth !== this.#depth && before !== 'DISTINCT';
    if (upper === 'JOIN' || upper === 'INTO') return true;
    return upper === 'TABLE' && ['TRUNCATE', 'LOCK'].includes(this.#statement);
  }

  /** A name, quoted or not, with what it is qualified by. */
  #acceptName(name: string): void {
    const isTable = this.#expectsTable && !this.#isAtStart;
    this.#isAtStart = false;
    this.#before = 'name';
    if (!isTable) return;
    this.#expectsTable = false;
    const full = this.#qualified(name);
    const isFunction = this.#sql[this.#at] === '(' && this.#listDepth === this.#depth;
    if (!isFunction && full !== undefined && full.length <= MAX_NAME) this.#add(full);
  }

  /** The rest of `schema.table`; undefined if it is of another form. */
  #qualified(first: string): string | undefined {
    let name = first;
    while (this.#sql[this.#at] === '.') {
      this.#keep(1);
      const quote = this.#sql[this.#at];
      const close = quote === '[' ? ']' : quote;
      if (quote === '`' || (quote === '"' && this.#dialect === 'postgresql') || quote === '[') {
        const end = this.#sql.indexOf(close!, this.#at + 1);
        if (end === -1) {
          this.#isCertain = false;
          return undefined;
        }
        name += `.${this.#sql.slice(this.#at + 1, end)}`;
        this.#keep(end + 1 - this.#at);
        continue;
      }
      const word = this.#match(WORD);
      if (word === '') return undefined;
      name += `.${word}`;
      this.#keep(word.length);
    }
    return name;
  }

  #add(word: string): void {
    if (this.#isSummaryFull) return;
    const summary = this.#summary === '' ? word : `${this.#summary} ${word}`;
    if (summary.length > MAX_SUMMARY) this.#isSummaryFull = true;
    else this.#summary = summary;
  }
}

/**
 * The parts of a statement that may be recorded: operations and tables, and on request its text without literals.
 * Reading ends where the server's settings decide what is a literal.
 */
export function readSql(dialect: Dialect, sql: string, withText: boolean): SqlReading {
  return new SqlReader(dialect, sql, withText).read(sql.length <= MAX_READ);
}
