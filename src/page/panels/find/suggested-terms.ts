const MOST = 20;
/** A term: it has no space outside of quotes, of which the last may not be closed yet. */
const TERM = /(?:[^\s"]|"[^"]*(?:"|$))+/g;

/** Texts of the search that go on with one of the terms instead of the last word. */
export function suggestedTerms(text: string, terms: readonly string[]): string[] {
  const last = [...text.matchAll(TERM)].at(-1)?.[0] ?? '';
  if (last === '' || !text.endsWith(last)) return [];
  const before = text.slice(0, text.length - last.length);
  const typed = last.toLowerCase();
  const begin = terms.filter((term) => term.toLowerCase().startsWith(typed));
  const contain = terms.filter((term) => term.toLowerCase().includes(typed, 1));
  return [...new Set([...begin, ...contain])]
    .filter((term) => term !== last)
    .slice(0, MOST)
    .map((term) => before + term);
}
