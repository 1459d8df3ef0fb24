import { terminalText } from '../../../core/terminal-text.js';
import { shortened } from './display-width.js';

/** A space that is not before a unit or a bracket. */
const BREAK = / (?!%|\(|(?:[nµm]?s|min|h)\b)/;

/** A text in lines of at most so many columns, broken at spaces. */
export function* wrapped(text: string, width: number): Generator<string, void> {
  let line = '';
  for (const word of terminalText(text).split(BREAK)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      yield shortened(line, width);
      line = '  ';
    }
    line += line.trim() === '' ? word : ` ${word}`;
  }
  yield shortened(line, width);
}
