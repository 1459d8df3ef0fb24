/**
 * JSON without unpaired surrogates, each of which becomes U+FFFD as in UTF-8: JavaScript's own JSON
 * escapes them (`\\ud800`), and parsers of other languages then refuse the whole file.
 */
export function wellFormedJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (escape) =>
    escape === '\\\\' ? escape : '\ufffd',
  );
}
