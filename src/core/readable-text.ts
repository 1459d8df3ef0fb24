/** A number of things in words: `1 event`, `1,024 events`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  const digits = String(count).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${digits} ${count === 1 ? one : many}`;
}

/** Names in words: `mail, shop and stock`. */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

// eslint-disable-next-line no-control-regex -- these are what must not reach a terminal
const ACTED_ON = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text with escapes, as in JSON, for what a terminal acts on and what begins a new line or turns the
 * direction of writing. Of JSON in one line it makes JSON that says the same.
 */
export function terminalText(text: string): string {
  return text.replace(
    ACTED_ON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Text in JSON's quotes, with escapes also for what JSON lets through but a terminal acts on. */
export function quotedText(text: string): string {
  return terminalText(JSON.stringify(text));
}
