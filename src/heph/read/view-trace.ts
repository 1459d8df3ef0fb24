import { TracewrightError } from '../../core/errors.js';
import { TraceView } from '../../core/living/trace-view.js';
import type { TraceViewer } from '../../core/living/trace-view.js';
import { lossesOf } from './cut-ends.js';
import { LivingFile } from './living-file.js';
import { LivingPass } from './living-pass.js';
import { PacketCursor } from './packet-cursor.js';

/**
 * Shows Heph files as their rings complete them: of a dead process with the events that were open. A file
 * that a ring feeds is read to its end once, because only its records say where one begins.
 *
 * @returns what shows one file. The pieces of a trace that rotates are to be shown in their order.
 */
export function traceViewer(): TraceViewer {
  const pass = new LivingPass();
  return (path, ringDirs = []) => {
    const view = new TraceView();
    view.ofFile(path, (fd) => {
      if (hasRings(path, ringDirs)) {
        const shown = readLiving(view, path, { ringDirs, pass });
        if (shown !== undefined) view.show(fd, shown);
      } else {
        view.faults.push(...lossesOf(path));
      }
    });
    return view;
  };
}

function hasRings(path: string, ringDirs: readonly string[]): boolean {
  const file = new LivingFile(path, { ringDirs });
  try {
    return file.hasRings || file.faults.length > 0;
  } finally {
    file.close();
  }
}

/** Undefined where the file itself has a fault: its reader reports it. */
function readLiving(
  view: TraceView,
  path: string,
  living: { ringDirs: readonly string[]; pass: LivingPass },
): { from: number; bytes: Buffer } | undefined {
  let from = 0;
  const after: Buffer[] = [];
  const cursor = new PacketCursor(path, { living });
  try {
    while (cursor.next()) {
      const { bytes, position, size, offset } = cursor;
      if (after.length === 0 && cursor.inFile && offset === from) from += size;
      else after.push(Buffer.from(bytes.subarray(position, position + size)));
    }
    return { from, bytes: Buffer.concat(after) };
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    return undefined;
  } finally {
    for (const pid of cursor.pids) view.noteAlive(pid);
    if (cursor.state === 'died') view.noteDead();
    view.overtaken += cursor.overtaken;
    view.faults.push(...cursor.faults);
    cursor.close();
  }
}
