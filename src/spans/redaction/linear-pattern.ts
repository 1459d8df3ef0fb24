/** Steps that a search in a text may take: a fraction of a millisecond. */
const MOST_STEPS = 1 << 17;
/** Characters of a text that any pattern is applied to. */
const MOST_LENGTH = 1 << 13;
/** A pattern that cannot be applied to a text of so many characters is not worth it. */
const LEAST_LENGTH = 512;

/** The cost of a part of a pattern at one position of a text. */
interface Cost {
  /** In how many ways it can match. */
  readonly ways: number;
  /** Characters that it reads in one of them. */
  readonly width: number;
  /** Whether it ends in a repetition without an upper bound. */
  readonly isOpen: boolean;
}

const NOTHING: Cost = { ways: 1, width: 0, isOpen: false };
const CHARACTER: Cost = { ways: 1, width: 1, isOpen: false };

const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const GROUP = /\((?:\?(?::|<[\w$]+>|(<?[=!])))?/y;
/** A class of characters or an escape for one. Others refer to groups, or mean more than one character. */
const CLASS = /\[\^?(?:\\.|[^\\\]])*\]/suy;
const ESCAPE = /\\(?:[dDwWsStnrfv0]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^\da-zA-Z])/suy;
const BOUNDARY = /\\[bB]|[\^$]/y;

/**
 * Whether the time of a search grows with the text's length only. It is conservative: a repetition without an
 * upper bound must be the last thing of its alternative, so that nothing after it can fail.
 */
class LinearCheck {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** The cost of the whole pattern; undefined: it is not known to be linear. */
  cost(): Cost | undefined {
    const cost = this.#alternatives();
    return this.#at === this.#source.length ? cost : undefined;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match;
  }

  #alternatives(): Cost | undefined {
    let ways = 0;
    let width = 0;
    let isOpen = false;
    for (;;) {
      const one = this.#sequence();
      if (one === undefined) return undefined;
      ways += one.ways;
      width = Math.max(width, one.width);
      isOpen ||= one.isOpen;
      if (this.#source[this.#at] !== '|') return { ways, width, isOpen };
      this.#at++;
    }
  }

  #sequence(): Cost | undefined {
    let { ways, width, isOpen } = NOTHING;
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!)) {
      const part = isOpen ? undefined : this.#part();
      if (part === undefined) return undefined;
      ways *= part.ways;
      width += part.width;
      ({ isOpen } = part);
    }
    return { ways, width, isOpen };
  }

  #part(): Cost | undefined {
    if (this.#match(BOUNDARY) !== undefined) return NOTHING;
    if (this.#source[this.#at] === '(') return this.#group();
    if (!this.#readCharacter()) return undefined;
    const quantifier = this.#match(QUANTIFIER);
    if (quantifier === undefined) return CHARACTER;
    const [, sign, least = '0', comma, most] = quantifier;
    if (sign === '?') return { ways: 2, width: 1, isOpen: false };
    if (sign !== undefined || (comma !== undefined && most === '')) {
      return { ways: 1, width: Math.max(1, Number(least)), isOpen: true };
    }
    const longest = Number(most ?? least);
    return { ways: longest - Number(least) + 1, width: longest, isOpen: false };
  }

  #readCharacter(): boolean {
    const character = this.#source[this.#at]!;
    if (character === '[') return this.#match(CLASS) !== undefined;
    if (character === '\\') return this.#match(ESCAPE) !== undefined;
    this.#at++;
    return true;
  }

  #group(): Cost | undefined {
    const opening = this.#match(GROUP);
    if (opening === undefined) return undefined;
    const isLookaround = opening[1] !== undefined;
    const inner = this.#alternatives();
    if (inner === undefined || this.#source[this.#at] !== ')') return undefined;
    this.#at++;
    const quantifier = this.#match(QUANTIFIER);
    if (quantifier === undefined) return isLookaround && inner.isOpen ? undefined : inner;
    if (isLookaround || inner.isOpen || quantifier[1] !== '?') return undefined;
    return { ...inner, ways: inner.ways + 1 };
  }
}

/**
 * How many characters a text may have so that a search in it takes less than a millisecond in the worst case;
 * 0: the pattern is not known to take a time that grows with the length only.
 *
 * @param source a valid one.
 */
export function linearLength(source: string, flags: string): number {
  // There classes contain classes, and escapes stand for several characters.
  if (/[uv]/.test(flags)) return 0;
  const cost = new LinearCheck(source).cost();
  if (cost === undefined) return 0;
  const longest = Math.floor(MOST_STEPS / (cost.ways * Math.max(1, cost.width)));
  return longest < LEAST_LENGTH ? 0 : Math.min(longest, MOST_LENGTH);
}
