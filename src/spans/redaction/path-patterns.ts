import { boundedPattern } from '../../core/bounded-pattern.js';
import { cpuTime } from '../../core/clock.js';
import { outOfRange } from '../../core/errors.js';
import { linearLength } from './linear-pattern.js';

/** Nanoseconds of CPU time after which no further search begins in a text: half of what two attempts may take. */
const MOST_TIME = 150_000;
/** Characters of a text that patterns are applied to which are not known to be linear. */
const MOST_BOUNDED = 288;
/** Steps back of one search in such a text. An ordinary search takes one a character. */
const MOST_STEPS_BACK = 3000;
/** Linear patterns of which so many together take less time than the limit. */
const CHECK_EVERY = 16;
/** They make the text grow with the square of its length. */
const REPEATS_TEXT = /\$[`']/;
/** With them V8 compiles a pattern for texts of one byte and of two bytes a character. */
const SAMPLES = ['/a/1', '/a/1', '/\u{101}/1', '/\u{101}/1'];

/** CPU time that is used for one text. */
class TimeLimit {
  #from = -1;
  /** Whether the time was over. It is that of the whole thread: V8 may have collected garbage meanwhile. */
  wasOver = false;

  /** The first call begins the time. */
  isOver(): boolean {
    const now = cpuTime(true);
    if (this.#from === -1) this.#from = now;
    this.wasOver = now - this.#from > MOST_TIME;
    return this.wasOver;
  }
}

/** A pattern and what replaces it. */
interface Rule {
  /** Characters of the longest text that it is applied to. */
  readonly longest: number;
  readonly isLinear: boolean;
  /** Undefined: it would take too long. */
  applied(text: string, limit: TimeLimit): string | undefined;
}

class LinearRule implements Rule {
  readonly isLinear = true;
  readonly longest: number;
  readonly #pattern: RegExp;
  readonly #replacement: string;

  constructor(pattern: RegExp, replacement: string, longest: number) {
    this.longest = REPEATS_TEXT.test(replacement) ? Math.min(longest, MOST_BOUNDED) : longest;
    this.#pattern = pattern;
    this.#replacement = replacement;
  }

  applied(text: string): string {
    return text.replace(this.#pattern, this.#replacement);
  }
}

/** A search that V8 replaces by matches which are known: `$1` and its like mean what they always do. */
class KnownMatches {
  readonly flags = 'g';
  readonly global = true;
  readonly unicode = false;
  lastIndex = 0;
  readonly #matches: readonly RegExpExecArray[];
  #next = 0;

  constructor(matches: readonly RegExpExecArray[]) {
    this.#matches = matches;
  }

  exec(): RegExpExecArray | null {
    return this.#matches[this.#next++] ?? null;
  }
}

const replaceBy = RegExp.prototype[Symbol.replace] as (
  this: unknown,
  text: string,
  replacement: string,
) => string;

class BoundedRule implements Rule {
  readonly isLinear = false;
  readonly longest = MOST_BOUNDED;
  /** Its last group is that of the mark at the end of the text: a search that ends without it was given up. */
  readonly #pattern: RegExp;
  readonly #isUnicode: boolean;
  readonly #replacement: string;

  constructor(pattern: RegExp, flags: string, replacement: string) {
    this.#pattern = pattern;
    this.#isUnicode = /[uv]/.test(flags);
    this.#replacement = replacement;
  }

  applied(text: string, limit: TimeLimit): string | undefined {
    const pattern = this.#pattern;
    const matches: RegExpExecArray[] = [];
    pattern.lastIndex = 0;
    while (pattern.lastIndex <= text.length) {
      if (limit.isOver()) return undefined;
      const match = pattern.exec(text);
      if (match === null) return undefined;
      const isMark = match.pop() === '';
      if (isMark && match.index === text.length) break;
      // V8 also sees an end between the two halves of a character.
      if (!isMark) matches.push(match);
      if (match[0] === '') pattern.lastIndex = this.#after(text, pattern.lastIndex);
    }
    if (matches.length === 0) return text;
    return replaceBy.call(new KnownMatches(matches), text, this.#replacement);
  }

  #after(text: string, at: number): number {
    return at + (this.#isUnicode && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
  }
}

/** Patterns that are applied to texts one after the other, in a bounded time. */
export class PathPatterns {
  readonly #rules: Rule[] = [];
  /** The first pattern that cannot be bounded on this JavaScript engine. */
  unbounded: string | undefined = undefined;

  /** @throws TracewrightError that names the field for a pattern that V8 cannot compile. */
  add(field: string, source: string, flags: string, replacement: string): void {
    const rule = ruleOf(field, source, flags, replacement);
    if (rule === undefined) this.unbounded ??= source;
    else this.#rules.push(rule);
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0 && this.unbounded === undefined;
  }

  /** The text as it is recorded; undefined: that would take too long. */
  applied(text: string): string | undefined {
    const limit = new TimeLimit();
    const applied = this.#applied(text, limit);
    return limit.wasOver ? this.#applied(text, new TimeLimit()) : applied;
  }

  #applied(text: string, limit: TimeLimit): string | undefined {
    const rules = this.#rules;
    let applied: string | undefined = text;
    try {
      for (let i = 0; i < rules.length; i++) {
        const rule = rules[i]!;
        if (applied.length > rule.longest) return undefined;
        if (rule.isLinear && i % CHECK_EVERY === CHECK_EVERY - 1 && limit.isOver()) {
          return undefined;
        }
        applied = rule.applied(applied, limit);
        if (applied === undefined) return undefined;
      }
      return applied;
    } catch {
      // The stack or the memory does not suffice.
      return undefined;
    }
  }
}

/** Whether `\2` may mean a character as there is no second group: one more group would change that. */
function hasOctalEscape(source: string, flags: string): boolean {
  const groups = new RegExp(`${source}|`, flags).exec('')!.length - 1;
  const numbers = source.match(/\\[1-9]\d*/g) ?? [];
  return numbers.some((number) => Number(number.slice(1)) > groups);
}

/** Undefined: the time of the pattern cannot be bounded here. */
function ruleOf(
  field: string,
  source: string,
  flags: string,
  replacement: string,
): Rule | undefined {
  try {
    // Its `lastIndex` is not the caller's business any more.
    const plain = new RegExp(source, `${flags}g`);
    const longest = linearLength(source, flags);
    if (longest > 0) {
      for (const text of SAMPLES) text.replace(plain, '');
      return new LinearRule(plain, replacement, longest);
    }
    if (hasOctalEscape(source, flags)) return undefined;
    const end = flags.includes('m') ? '(?![\\s\\S])' : '$';
    const bounded = boundedPattern(`(?:${source})|${end}()`, flags, MOST_STEPS_BACK);
    if (bounded === undefined) return undefined;
    for (const text of SAMPLES) {
      bounded.lastIndex = 0;
      bounded.exec(text);
    }
    return new BoundedRule(bounded, flags, replacement);
  } catch {
    throw outOfRange(field, source, 'a valid regular expression');
  }
}
