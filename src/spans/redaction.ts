import { outOfRange, wrongType } from '../core/errors.js';
import { ownOptions } from '../core/options/argument.js';
import type { OptionNames } from '../core/options/argument.js';
import { takeElements } from '../core/taken-elements.js';

/** What is removed before a span's bytes are in memory that outlives the process. */
export interface Redaction {
  /** Names of attributes that are left out; `*` at the end is any rest. Or `TRACEWRIGHT_REDACT_DROP`. */
  drop?: readonly string[];
  /** Names of attributes whose value becomes `***`. Or `TRACEWRIGHT_REDACT_MASK`. */
  mask?: readonly string[];
  /**
   * Patterns and what replaces them, in names of spans and in attributes that hold paths or URLs
   * (`url.path`, `url.full`, `url.query`, `http.route` and the names that these had before). Or
   * `TRACEWRIGHT_REDACT_PATHS`: `pattern=replacement`, several separated by spaces.
   */
  paths?: readonly (readonly [pattern: RegExp | string, replacement: string])[];
}

export const MASK = '***';
const MESSAGE = 'exception.message';

/** Names or patterns of one option. */
const MAX_RULES = 10_000;

const NAMES: OptionNames<Required<Redaction>> = { drop: true, mask: true, paths: true };
const PATH_ATTRIBUTES: ReadonlySet<string> = new Set([
  'url.path',
  'url.full',
  'url.query',
  'http.route',
  'http.target',
  'http.url',
  'path',
  'route',
]);

/** Whether a name is in a list, whose entries may end in `*`. */
class NameList {
  readonly #exact: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  constructor(names: readonly string[]) {
    this.#exact = new Set(names.filter((name) => !name.endsWith('*')));
    this.#prefixes = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  }

  has(name: string): boolean {
    if (this.#exact.has(name)) return true;
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true;
    return false;
  }
}

/** Redaction, ready to be applied. */
export class Redactor {
  readonly #drop: NameList;
  readonly #mask: NameList;
  readonly #paths: readonly (readonly [RegExp, string])[];

  constructor(drop: readonly string[], mask: readonly string[], paths: [RegExp, string][]) {
    this.#drop = new NameList(drop);
    this.#mask = new NameList(mask);
    this.#paths = paths;
  }

  /** The name of a span or of an event. */
  name(name: string): string {
    let redacted = name;
    for (const [pattern, replacement] of this.#paths) {
      redacted = redacted.replace(pattern, replacement);
    }
    return redacted;
  }

  /** The value that is recorded; undefined: none. */
  value(name: string, value: unknown): unknown {
    if (this.#drop.has(name)) return undefined;
    if (this.#mask.has(name)) return MASK;
    return typeof value === 'string' && PATH_ATTRIBUTES.has(name) ? this.name(value) : value;
  }

  /** The message of a status: `fail` takes it from the error, so what concerns that text concerns this one. */
  message(message: string): string {
    return message === '' ? '' : ((this.value(MESSAGE, message) as string | undefined) ?? '');
  }
}

function list(variable: string): string[] {
  return (process.env[variable] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function expression(field: string, pattern: unknown): RegExp {
  if (pattern instanceof RegExp) {
    // Its `lastIndex` is not the caller's business any more.
    return new RegExp(pattern.source, pattern.flags.replace('y', '').replace('g', '') + 'g');
  }
  if (typeof pattern !== 'string') throw wrongType(field, pattern, 'a RegExp or its source');
  try {
    return new RegExp(pattern, 'g');
  } catch {
    throw outOfRange(field, pattern, 'a valid regular expression');
  }
}

function names(field: string, given: unknown): string[] {
  const limit = 'a list of names';
  return takeElements(field, given, MAX_RULES, limit).map((name) => {
    if (typeof name !== 'string') throw wrongType(field, given, limit);
    return name;
  });
}

/**
 * Fills in variables and checks the option.
 *
 * @returns undefined when nothing is redacted.
 * @throws TracewrightError that names the option or variable.
 */
export function checkRedaction(given: Redaction = {}): Redactor | undefined {
  const options = ownOptions<Redaction>(given, NAMES, 'redact');
  const drop =
    options.drop === undefined
      ? list('TRACEWRIGHT_REDACT_DROP')
      : names('redact.drop', options.drop);
  const mask =
    options.mask === undefined
      ? list('TRACEWRIGHT_REDACT_MASK')
      : names('redact.mask', options.mask);
  const paths: [RegExp, string][] = [];
  if (options.paths === undefined) {
    const variable = 'TRACEWRIGHT_REDACT_PATHS';
    for (const rule of (process.env[variable] ?? '').split(/\s+/)) {
      if (rule === '') continue;
      const equals = rule.lastIndexOf('=');
      if (equals < 1) throw outOfRange(variable, rule, 'pattern=replacement');
      paths.push([expression(variable, rule.slice(0, equals)), rule.slice(equals + 1)]);
    }
  } else {
    const rules: unknown = options.paths;
    const limit = 'a list of pairs, a pattern and what replaces it';
    for (const rule of takeElements('redact.paths', rules, MAX_RULES, limit)) {
      const [pattern, replacement] = takeElements('redact.paths', rule, 2, limit);
      if (typeof replacement !== 'string') throw wrongType('redact.paths', rule, limit);
      paths.push([expression('redact.paths', pattern), replacement]);
    }
  }
  if (drop.length + mask.length + paths.length === 0) return undefined;
  return new Redactor(drop, mask, paths);
}
