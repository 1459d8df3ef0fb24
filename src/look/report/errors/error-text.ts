/** Characters of a message that are looked at. */
const MOST_MESSAGE = 1000;
/** Characters that a shape has at most. */
const MOST_SHAPE = 200;
/** Lines of a stack that are looked at. */
const MOST_FRAMES = 100;
const VALUE = '?';

/** In this order. An apostrophe within a word begins no quotation. */
const VALUES: readonly RegExp[] = [
  /(?<!\w)(["'`“‘«]).{0,500}?["'`”’»](?!\w)/g,
  // A UUID.
  /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi,
  // Hexadecimal ids, of digits and letters or of digits alone.
  /\b(?:0x[\da-f]+|(?=[a-f]*\d)[\da-f]{8,})\b/gi,
  // Words of letters and two digits or more: `usr_k3j9x2`.
  /\b(?=[\w-]{6})(?=[\w-]*[a-z])\w*\d[\w-]*\d\w*/gi,
  // Numbers, addresses, times.
  /(?<![\w?])-?\d+(?:[.,:_-]\d+)*|\d+(?:[.,:_-]\d+)*/g,
];

/**
 * The part that messages of one cause share: the first line, with numbers, ids and quoted values as `?`. Null: it is
 * empty.
 */
export function messageShape(message: string): string | null {
  const [line = ''] = message.slice(0, MOST_MESSAGE).trim().split('\n', 1);
  let shape = line.replace(/\s+/g, ' ').trim();
  for (const value of VALUES) shape = shape.replace(value, VALUE);
  if (shape === '') return null;
  return shape.length > MOST_SHAPE ? `${shape.slice(0, MOST_SHAPE)}…` : shape;
}

/** Where an error was made. */
export interface ErrorFrame {
  /** `reserve (/app/src/stock.js:12:9)` */
  text: string;
  /** The same without line and directory, which change with every release: `reserve stock.js`. */
  key: string;
}

/** A frame of V8: `at async reserve (file:///app/stock.js:12:9)`. */
const FRAME = /^\s*at (?:async )?(?:(.{1,300}?) \()?(?:file:\/\/)?([^()]{1,1000}):(\d+):(\d+)\)?$/;
const OF_NODE = /^node:/;
const OF_PACKAGE = /[\\/]node_modules[\\/]/;

/**
 * The first frame of a stack that is the program's own. If there is none: of a package, else of Node. Null: the stack
 * has no frame.
 */
export function errorFrame(stack: string): ErrorFrame | null {
  const found: (ErrorFrame | undefined)[] = [];
  for (const line of stack.split('\n', MOST_FRAMES)) {
    const [, name = '', file = '', row, column] = FRAME.exec(line) ?? [];
    if (row === undefined) continue;
    const rank = OF_NODE.test(file) ? 2 : OF_PACKAGE.test(file) ? 1 : 0;
    const where = `${file}:${row}:${column!}`;
    found[rank] ??= {
      text: name === '' ? where : `${name} (${where})`,
      key: `${name} ${file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)}`,
    };
    if (rank === 0) break;
  }
  return found.find((frame) => frame !== undefined) ?? null;
}
