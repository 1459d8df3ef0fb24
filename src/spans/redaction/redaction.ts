import { PREFIX, valueOf } from '../../core/settings/value-of.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import { ownOptions } from '../../core/options/argument.js';
import { takeElements } from '../../core/taken-elements.js';
import type { SpanAttributes } from '../attributes.js';
import { jsonOf } from '../write/json-value.js';
import { PathPatterns } from './path-patterns.js';
import { changedName, changedUrl, nameBeforePath, originOf } from './path-text.js';

/** The parts to remove before a span's bytes are in memory that outlives the process. */
export interface Redaction {
  /** Names of attributes that are left out; `*` at the end is any rest. Or `TRACEWRIGHT_REDACT_DROP`. */
  drop?: readonly string[];
  /** Names of attributes whose value becomes `***`. Or `TRACEWRIGHT_REDACT_MASK`. */
  mask?: readonly string[];
  /**
   * Patterns and what replaces them, in names of spans and in attributes that hold paths or URLs
   * (`url.path`, `url.full`, `url.query`, `http.route` and the names that these had before). Hosts and ports
   * stay. Or `TRACEWRIGHT_REDACT_PATHS`: `pattern=replacement`, several separated by spaces.
   */
  paths?: readonly (readonly [pattern: RegExp | string, replacement: string])[];
}

const MASK = '***';
const MESSAGE = 'exception.message';

/** Names or patterns of one option. */
const MAX_RULES = 10_000;

const PATH_ATTRIBUTES: ReadonlySet<string> = new Set([
  'url.path',
  'url.full',
  'url.query',
  'url.fragment',
  'url.original',
  'url.template',
  'http.route',
  'http.target',
  'http.url',
  'http.request.header.referer',
  'http.response.header.location',
  'next.span_name',
  'path',
  'route',
]);
const ROUTE_ATTRIBUTES: readonly string[] = ['http.route', 'url.template', 'route', 'next.route'];
/** Their values are hosts, which a name may have too. */
const HOST_ATTRIBUTES: readonly string[] = [
  'server.address',
  'network.peer.address',
  'client.address',
  'dns.question.name',
  'net.peer.name',
  'net.peer.ip',
  'net.host.name',
  'http.host',
];
/** Attributes of any instrumentation that may have the path of a URL, and those that have other paths. */
const OF_PATH_NAME =
  /(?:^|[._-])(?:url|uri|path|target|query|href|referr?er|location|span_name)(?:$|[._-])/i;
const OF_OTHER_PATH = /^(?:db|code|process|file|messaging|graphql)\./;

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

/** Recorded in place of a text whose redaction would take too long. */
export const WITHHELD = '(not recorded: its redaction took too long)';
/** The name of a span of which nothing but a path is known, if no path is recorded. */
const NO_NAME = '(path not recorded)';
/** Characters of a name. In a longer one hosts are not looked for. */
const MOST_NAME = 1 << 13;
/** Elements of an attribute that is a list of paths. */
const MOST_ELEMENTS = 1000;

/** Changes paths in the texts of spans. */
interface PathRule {
  readonly name: (name: string, attributes: SpanAttributes | undefined) => string;
  readonly value: (name: string, value: string) => string | undefined;
  readonly isOfPath: (name: string) => boolean;
}

function textsOf(attributes: SpanAttributes | undefined, names: readonly string[]): string[] {
  const texts: string[] = [];
  for (const name of names) {
    const value = attributes?.[name];
    if (typeof value === 'string' && value !== '') texts.push(value);
  }
  return texts;
}

/** Of the attributes of a span those by which its name is redacted; undefined: none. */
export function attributesOfNames(
  attributes: SpanAttributes | undefined,
): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const name of [...HOST_ATTRIBUTES, ...ROUTE_ATTRIBUTES]) {
    const value = attributes?.[name];
    if (typeof value === 'string') found[name] = value;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** By patterns, which are applied to everything but hosts. */
class PatternRule implements PathRule {
  readonly #patterns: PathPatterns;
  readonly #refuse: () => void;

  constructor(patterns: PathPatterns, refuse: () => void) {
    this.#patterns = patterns;
    this.#refuse = refuse;
  }

  readonly #change = (part: string): string | undefined => this.#patterns.applied(part);

  name(name: string, attributes: SpanAttributes | undefined): string {
    const hosts = textsOf(attributes, HOST_ATTRIBUTES);
    const changed = name.length > MOST_NAME ? undefined : changedName(name, hosts, this.#change);
    return changed ?? this.#withheld();
  }

  value(_name: string, value: string): string {
    return changedUrl(value, this.#change) ?? this.#withheld();
  }

  isOfPath(name: string): boolean {
    return PATH_ATTRIBUTES.has(name);
  }

  #withheld(): string {
    this.#refuse();
    return WITHHELD;
  }
}

/** By leaving out every path but that of a route: what a wrong pattern would have removed is not known. */
const NO_PATHS: PathRule = {
  name(name, attributes) {
    for (const route of textsOf(attributes, ROUTE_ATTRIBUTES)) {
      if (name === route || name.endsWith(` ${route}`)) return name;
    }
    return nameBeforePath(name) || NO_NAME;
  },
  value: (name, value) => (ROUTE_ATTRIBUTES.includes(name) ? value : originOf(value)),
  isOfPath: (name) =>
    PATH_ATTRIBUTES.has(name) || (OF_PATH_NAME.test(name) && !OF_OTHER_PATH.test(name)),
};

/** Redaction, ready to be applied. */
export class Redactor {
  readonly #drop: NameList;
  readonly #mask: NameList;
  readonly #paths: PathRule | undefined;
  /** Why no path is recorded; undefined: paths are. */
  readonly fault: string | undefined;
  /** How many texts were not recorded, as their redaction took too long. */
  refused = 0;

  /** @param paths the patterns, or why there are none that could be applied. */
  constructor(drop: readonly string[], mask: readonly string[], paths: PathPatterns | string) {
    this.#drop = new NameList(drop);
    this.#mask = new NameList(mask);
    if (typeof paths === 'string') {
      this.fault = paths;
      this.#paths = NO_PATHS;
    } else if (!paths.isEmpty) {
      this.#paths = new PatternRule(paths, () => {
        if (this.refused++ === 0) warnOf(REFUSED);
      });
    }
  }

  /** The name of a span or of an event. */
  name(name: string, attributes?: SpanAttributes): string {
    return this.#paths === undefined ? name : this.#paths.name(name, attributes);
  }

  /** The value that is recorded; undefined: none. */
  value(name: string, value: unknown): unknown {
    if (this.#drop.has(name)) return undefined;
    if (this.#mask.has(name)) return MASK;
    return this.#paths?.isOfPath(name) === true ? this.#pathValue(name, value) : value;
  }

  /** As `value`, of a text that is recorded also if it is empty. */
  text(name: string, value: string): string {
    return (this.value(name, value) as string | undefined) ?? '';
  }

  /** The message of a status: `fail` takes it from the error, so what concerns that text concerns this one. */
  message(message: string): string {
    return message === '' ? '' : this.text(MESSAGE, message);
  }

  #pathValue(name: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#paths!.value(name, value);
    if (typeof value !== 'object' || value === null) return value;
    try {
      if (Array.isArray(value)) {
        const elements = takeElements(name, value, MOST_ELEMENTS, 'a list of paths');
        return elements.map((each) => this.#pathValue(name, each) ?? null);
      }
      const json = jsonOf(value);
      // A URL is written as its text.
      const parsed: unknown = json === undefined ? undefined : JSON.parse(json);
      return json === undefined
        ? undefined
        : this.#paths!.value(name, typeof parsed === 'string' ? parsed : json);
    } catch {
      // A value that cannot be read.
      return undefined;
    }
  }
}

const REFUSED =
  'a pattern of redact.paths takes more than 1 ms: texts that it is too slow for are not recorded';

/** A process warning. */
export function warnOf(message: string): void {
  process.emitWarning(message, { type: 'TracewrightWarning', code: 'TRACEWRIGHT_REDACTION' });
}

/** Adds a pattern and what replaces it. */
function addRule(to: PathPatterns, field: string, pattern: unknown, replacement: string): void {
  if (pattern instanceof RegExp) {
    to.add(field, pattern.source, pattern.flags.replace(/[dgy]/g, ''), replacement);
  } else if (typeof pattern === 'string') {
    to.add(field, pattern, '', replacement);
  } else {
    throw wrongType(field, pattern, 'a RegExp or its source');
  }
}

function names(field: string, given: unknown): string[] {
  const limit = 'a list of names';
  return takeElements(field, given, MAX_RULES, limit).map((name) => {
    if (typeof name !== 'string') throw wrongType(field, given, limit);
    return name;
  });
}

/** The options, with the names that variables say. */
function lists(given: Redaction): {
  options: Redaction;
  drop: readonly string[];
  mask: readonly string[];
} {
  const options = ownOptions(given, ['drop', 'mask', 'paths'], 'redact');
  const drop =
    options.drop === undefined ? valueOf('REDACT_DROP') : names('redact.drop', options.drop);
  const mask =
    options.mask === undefined ? valueOf('REDACT_MASK') : names('redact.mask', options.mask);
  return { options, drop, mask };
}

/** Of a pattern that could block the service on this JavaScript engine. */
function unboundedText(pattern: string): string {
  return `the pattern ${JSON.stringify(pattern)} could take too long, and nothing limits its time here`;
}

/**
 * The redactor for patterns that cannot be used: no path is recorded.
 *
 * @param reason that a wrong variable is not used.
 * @throws TracewrightError if the option itself is wrong.
 */
export function redactorWithoutPaths(given: Redaction = {}, reason: string): Redactor {
  const { drop, mask } = lists({ ...given, paths: [] });
  return new Redactor(drop, mask, reason);
}

/**
 * Fills in variables and checks the option.
 *
 * @returns undefined when nothing is redacted.
 * @throws TracewrightError that names the option or variable.
 */
export function checkRedaction(given: Redaction = {}): Redactor | undefined {
  const { options, drop, mask } = lists(given);
  const paths = new PathPatterns();
  if (options.paths === undefined) {
    const variable = `${PREFIX}REDACT_PATHS`;
    for (const rule of valueOf('REDACT_PATHS').split(/\s+/)) {
      if (rule === '') continue;
      const equals = rule.lastIndexOf('=');
      if (equals < 1) throw outOfRange(variable, rule, 'pattern=replacement');
      addRule(paths, variable, rule.slice(0, equals), rule.slice(equals + 1));
    }
  } else {
    const rules: unknown = options.paths;
    const limit = 'a list of pairs, a pattern and what replaces it';
    for (const rule of takeElements('redact.paths', rules, MAX_RULES, limit)) {
      const [pattern, replacement] = takeElements('redact.paths', rule, 2, limit);
      if (typeof replacement !== 'string') throw wrongType('redact.paths', rule, limit);
      addRule(paths, 'redact.paths', pattern, replacement);
    }
  }
  if (drop.length + mask.length === 0 && paths.isEmpty) return undefined;
  const { unbounded } = paths;
  if (unbounded === undefined) return new Redactor(drop, mask, paths);
  return new Redactor(drop, mask, unboundedText(unbounded));
}
