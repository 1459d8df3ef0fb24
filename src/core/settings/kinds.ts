import { outOfRange, wrongType } from '../errors.js';
import { oneOf as oneOfWords } from '../options/argument.js';
import { bytesIn, millisecondsIn } from './amounts.js';

/** Which values a setting takes. */
export interface Kind<T> {
  /** What a variable must be, in words: for warnings, errors and docs/options.md. */
  readonly limit: string;
  /** The value of a variable's text; undefined: it is not acceptable. May throw what says more than `limit`. */
  readonly parse: (text: string) => T | undefined;
  /** Checks an option. @throws TracewrightError that names the option and its limit. */
  readonly check?: (option: string, value: unknown) => T;
}

/** Whether a text means on or off; undefined: neither. */
function switchOf(text: string): boolean | undefined {
  // It lies in the file that decides if a process is traced. Others load it for a variable that is set.
  const file = require('../options/switch.js') as typeof import('../options/switch.js');
  return file.switchOf(text);
}

/** The texts between commas, without spaces around them, and without empty ones. */
export function itemsOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export const flag: Kind<boolean> = { limit: 'on or off', parse: switchOf };

/** On, off, or a word for what lies between. */
export function flagOr<W extends string>(word: W): Kind<W | boolean> {
  return {
    limit: `${word}, on or off`,
    parse: (text) => (text.trim().toLowerCase() === word ? word : switchOf(text)),
  };
}

export function oneOf<W extends string>(...words: W[]): Kind<W> {
  return {
    limit: words.join(' or '),
    parse: (text) => words.find((word) => word.toLowerCase() === text.trim().toLowerCase()),
    check: (option, value) => oneOfWords(option, value, words),
  };
}

/**
 * An integer from `low` to `high`.
 *
 * @param reason of the range, in words.
 */
export function whole(low: number, high: number, reason = ''): Kind<number> {
  const limit = `an integer from ${low} to ${high}${reason}`;
  const fits = (value: number): boolean => Number.isInteger(value) && value >= low && value <= high;
  return {
    limit,
    parse(text) {
      const value = text.trim() === '' ? NaN : Number(text);
      return fits(value) ? value : undefined;
    },
    check(option, value) {
      if (typeof value !== 'number') throw wrongType(option, value, limit);
      if (!fits(value)) throw outOfRange(option, value, limit);
      return value;
    },
  };
}

/** The same of bytes, which may have a unit. */
export function bytes(low: number, high: number, reason?: string): Kind<number> {
  const { limit, parse, check } = whole(low, high, reason);
  return {
    limit: `${limit}, or with a unit such as 64MiB`,
    parse: (text) => parse(String(bytesIn(text))),
    check: check!,
  };
}

/** Milliseconds from `low` to `high`, which may have a unit; `off` is a value of its own. */
export function duration(low: number, high: number, off: number): Kind<number> {
  return {
    limit: `off, or ${low} to ${high} ms, or with a unit such as 2s`,
    parse(text) {
      const value = millisecondsIn(text, 'ms');
      if (value === undefined ? switchOf(text) === false : value === 0 && low > 0) return off;
      return value !== undefined && value >= low && value <= high ? value : undefined;
    },
  };
}

/** Any text, or one that a pattern matches; `limit` is the pattern in words. */
export function text(limit = 'a text', pattern = /./s): Kind<string> {
  return {
    limit,
    parse: (given) => (pattern.test(given) ? given : undefined),
    check(option, value) {
      if (typeof value !== 'string') throw wrongType(option, value, limit);
      return value;
    },
  };
}

/** `HOST:PORT`, `:PORT` or `PORT`. */
export const ADDRESS = /^(?:(\[[0-9a-f:.]+\]|[\w.-]*):)?(\d{1,5})$/i;

const MODES: readonly number[] = [0o600, 0o640, 0o644, 0o660, 0o664];
const MODE_LIMIT = '0600, 0640, 0644, 0660 or 0664';

/** The mode of a file: octal digits, or an option's number. */
export const fileMode: Kind<number> = {
  limit: MODE_LIMIT,
  parse: (given) => MODES.find((mode) => mode.toString(8) === given.replace(/^0/, '')),
  check(option, value) {
    if (typeof value !== 'number')
      throw wrongType(option, value, `a number: ${MODE_LIMIT} (octal)`);
    if (!MODES.includes(value)) throw outOfRange(option, `0${value.toString(8)}`, MODE_LIMIT);
    return value;
  },
};

/** Texts with commas between them; `off` is none. The pattern is that of all, without spaces. */
export function list(limit: string, pattern = /./s): Kind<readonly string[]> {
  return {
    limit,
    parse(given) {
      const items = itemsOf(given);
      if (items.length === 1 && switchOf(items[0]!) === false) return [];
      return pattern.test(items.join()) ? items : undefined;
    },
  };
}

/** Any texts with commas between them. */
export const names: Kind<readonly string[]> = {
  limit: 'names with commas between them',
  parse: itemsOf,
};

/** Hosts that get the trace's ids with a request. */
export interface Hosts {
  /** Whether every host gets `traceparent`. */
  everywhere: boolean;
  /** Hosts that get `traceparent` and baggage: names, or `*.` and the end of names. */
  hosts: readonly string[];
}

const HOST = /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$|^\[?[\da-f:]+\]?$/;

export const hosts: Kind<Hosts> = {
  limit: 'auto, off, or names of hosts with commas between them',
  parse(given) {
    const items = itemsOf(given.toLowerCase());
    if (items.length === 1 && items[0] === 'off') return { everywhere: false, hosts: [] };
    const named = items.filter((item) => item !== 'auto');
    if (items.length === 0 || named.some((host) => host === 'off' || !HOST.test(host))) {
      return undefined;
    }
    return { everywhere: named.length < items.length, hosts: named };
  },
};
