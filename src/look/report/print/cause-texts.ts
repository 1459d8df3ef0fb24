import type { ErrorType } from '../shape/report-shape.js';
import { shortScript } from '../names/code-text.js';

/** A frame by the last two names of its script, without the column: `reserve (src/stock.js:12)`. */
export function frameText(frame: string): string {
  const [, name = '', script = frame] = /^(?:(.*) \()?(.*?)(?::\d+)?\)?$/.exec(frame) ?? [];
  return name === '' ? shortScript(script) : `${name} (${shortScript(script)})`;
}

/** An error of which no type is recorded. */
export const UNNAMED = 'an error';

/** `RangeError at reserve (src/stock.js:12): "no stock of ?"`, `23505 of INSERT orders`. */
export function causeText({
  type,
  message,
  frame,
  name,
}: Pick<ErrorType, 'type' | 'message' | 'frame' | 'name'>): string {
  const at = frame === null ? '' : ` at ${frameText(frame)}`;
  // The end is cut off where there is little room.
  const more = message === null ? ` of ${name}` : `: ${JSON.stringify(message)}`;
  return `${type ?? UNNAMED}${at}${more}`;
}

/** `failed in shop: RangeError: "no order ?" (2 times)`: of the spans of one trace. */
export function failedText(error: ErrorType): string {
  const { service, count } = error;
  const times = count === 1 ? '' : ` (${count} times)`;
  return `failed${service === null ? '' : ` in ${service}`}: ${causeText(error)}${times}`;
}
