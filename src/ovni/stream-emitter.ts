import { compile } from '../core/compile.js';
import { ringScope } from '../core/emitter-text.js';
import type { Ring } from '../core/ring.js';
import type { StreamWriter } from './stream-writer.js';

/** Source that makes sure of `bytes` free bytes, and otherwise returns. */
export function roomText(bytes: number, parameters: string, insist: boolean, settle = ''): string {
  return `if (ring.free < ${bytes}) {
    if (ring !== stream.ring) return rebind(${parameters});
    if (!ring.${insist ? 'insistOnRoom' : 'makeRoom'}(${bytes})) { ${settle} return; }
  }`;
}

/**
 * Compiles an emitter of `stream`. A function that is compiled for the stream's ring does the work;
 * when the thread has been ended and initialised again, and so has another ring, it is replaced.
 *
 * @param body source of that function; see `ringScope` and {@link roomText} for what it can name.
 */
export function compileEmitter(
  stream: StreamWriter,
  name: string,
  parameters: string,
  scope: Record<string, unknown>,
  body: (ring: Ring) => string,
): unknown {
  const bind = (rebind: unknown): unknown => {
    const { ring } = stream;
    return compile(
      name,
      { ...ringScope(ring), stream, rebind, ...scope },
      `return function record(${parameters}) {\n${body(ring)}\n};`,
    );
  };
  return compile(
    name,
    { bind },
    `let record = bind(rebind);
function rebind(${parameters}) {
  record = bind(rebind);
  record(${parameters});
}
return function emitEvent(${parameters}) {
  record(${parameters});
};`,
  );
}
