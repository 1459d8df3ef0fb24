import { terminalText } from '../../../../core/readable-text.js';

/** Characters of a text from a trace that the page shows. */
const MAX_CHARACTERS = 160;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Markup that is safe to put into a page. Only `markup` makes it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = Html | string | number | readonly HtmlValue[];

/** A text as markup: shortened, with escapes for what turns the direction of writing, or is no character. */
function escapedText(text: string): string {
  const short = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text;
  return terminalText(short).replace(/[&<>"'`]/g, (character) => ENTITIES[character]!);
}

function markupOf(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(markupOf).join('');
  return escapedText(String(value));
}

/** Templates without the indentation of the code that they are in. */
const templates = new WeakMap<TemplateStringsArray, string[]>();

function withoutIndent(parts: TemplateStringsArray): string[] {
  const known = templates.get(parts);
  if (known !== undefined) return known;
  const short = parts.map((part) => part.replace(/\n\s*/g, '\n'));
  templates.set(parts, short);
  return short;
}

/** Markup from a template. Values are escaped unless they are markup themselves. */
export function markup(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  const fixed = withoutIndent(parts);
  let text = fixed[0]!;
  for (const [at, value] of values.entries()) text += markupOf(value) + fixed[at + 1]!;
  return new Html(text);
}
