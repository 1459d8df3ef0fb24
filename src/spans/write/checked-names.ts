/** Of an `OpenSpanWriter`: the attributes have other names, of which it has read no value. */
export const OTHER_NAMES = -3;

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { hasOwnProperty } = Object.prototype;
/** What the statements below name apart from the names: n0, n1 and so on, and `namesOf`, a list of them. */
export const NAMES_SCOPE = { hasOwnProperty };

/** Names that are compared one by one, as constants. */
const FEW_NAMES = 8;

/** Statements: return OTHER_NAMES unless the attributes have these names, in their order. They read no property. */
export function checkNames(names: readonly string[]): string {
  const few = names
    .slice(0, FEW_NAMES)
    .map((_, i) => `if (count === ${i}) { if (name !== n${i}) return ${OTHER_NAMES}; } else `);
  const further =
    names.length > FEW_NAMES ? 'if (count < namesOf.length && name === namesOf[count]); else ' : '';
  return `let count = 0;
  for (const name in attributes) {
    if (!hasOwnProperty.call(attributes, name)) continue;
    ${few.join('')}${further}return ${OTHER_NAMES};
    count++;
  }
  if (count !== ${names.length}) return ${OTHER_NAMES};`;
}
