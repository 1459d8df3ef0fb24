import { compile } from '../../core/ring/compile.js';
import { commitText, ringScope } from '../../core/ring/emitter-text.js';
import type { StreamWriter } from './stream-writer.js';

/** The usual case of an emitter, in source text; see `ringScope` for what the text can name. */
interface UsualCase {
  /** Declares what the test assigns. */
  prepare?: string;
  /** Whether it is one, apart from room in the ring. */
  test: string;
  /** Bytes of the event. */
  bytes: number;
  /** Writes the event at `at`. */
  write: string;
  /** What else the text names. */
  scope?: Record<string, unknown>;
}

/**
 * Compiles an emitter of `stream`: the usual case without a call, for V8 inlines no function of more
 * than 460 bytes of bytecode, nor more than 920 in one place; everything else, and every error,
 * through `plain`, which takes any case.
 *
 * The text is compiled for one ring. When the thread has been ended and initialised again, and so
 * has another ring, the old one has no room, and its text is replaced.
 */
export function compileEmitter<Values extends unknown[]>(
  stream: StreamWriter,
  name: string,
  parameters: string,
  plain: (...values: Values) => void,
  { prepare = '', test, bytes, write, scope }: UsualCase,
): (...values: Values) => void {
  const bind = (unusual: unknown): unknown => {
    const { ring } = stream;
    return compile(
      name,
      { ...ringScope(ring), unusual, ...scope },
      `return function record(${parameters}) {
  ${prepare}
  if (!(${test}) || ring.free < ${bytes}) return unusual(${parameters});
  const at = ring.position;
  ${write}
  ${commitText(ring, 'at', bytes)}
};`,
    );
  };
  return compile(
    name,
    { stream, plain, bind },
    `let ring = stream.ring;
let record = bind(unusual);
function unusual(${parameters}) {
  if (ring !== stream.ring) {
    ring = stream.ring;
    record = bind(unusual);
  }
  plain(${parameters});
}
return function emitEvent(${parameters}) {
  record(${parameters});
};`,
  ) as (...values: Values) => void;
}
