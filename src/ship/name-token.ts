/** Characters of a name at most. */
const MOST_CHARACTERS = 128;

/** A name in a subject or a path: other characters than letters, digits, `_` and `-` as `%` and two digits. */
export function nameToken(text: string): string {
  return encodeURIComponent(text.slice(0, MOST_CHARACTERS).toWellFormed()).replace(
    /[^\w%-]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
