/** Before the map of a script, in itself. */
const POINTER = '\n//# sourceMappingURL=data:application/json';
const COMPILED = /\.(?:[cm]?tsx?|jsx)$/;
/** Characters of a script with its map. */
const MOST = 1 << 20;

const scripts = new Map<string, string>();

/** Whether a script was compiled in memory, if at all. */
export function isCompiled(path: string): boolean {
  return COMPILED.test(path);
}

/** A loader has compiled a script in memory: nobody who reads the trace finds its map. V8 has the text anyway. */
export function noteCompiled(path: string, text: string): void {
  if (isCompiled(path) && text.length <= MOST && text.includes(POINTER)) scripts.set(path, text);
}

/** The map in the script, encoded in base64. */
export function mapInScript(path: string): string | undefined {
  const text = scripts.get(path);
  const from = text?.lastIndexOf(POINTER) ?? -1;
  return text?.slice(text.indexOf(',', from) + 1).trimEnd();
}
