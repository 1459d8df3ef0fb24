import { fstatSync } from 'node:fs';
import {
  checkJoin,
  copyOwnRing,
  openOwnRing,
  ringDirectories,
} from '../../core/living/own-file-ring.js';
import type { RingDirectories } from '../../core/living/own-file-ring.js';
import { TraceView } from '../../core/living/trace-view.js';
import type { TraceViewer } from '../../core/living/trace-view.js';
import { epilogueOf } from '../../core/recovery/recover-file.js';
import { kindOfRingFormat, ringOf } from '../file-names.js';

/**
 * Shows traces as their rings complete them: of a dead process with its end, if it is a kernel trace.
 *
 * @returns what shows one trace.
 */
export function traceViewer(): TraceViewer {
  const directoriesAt = ringDirectories();
  return (path, ringDirs) => viewTrace(path, directoriesAt(ringDirs));
}

function viewTrace(path: string, directories: RingDirectories): TraceView {
  const view = new TraceView();
  view.ofFile(path, (fd) => {
    const ring = openOwnRing(fstatSync(fd), {
      nextTo: ringOf(path),
      directories,
      isFormat: (format) => kindOfRingFormat(format) !== undefined,
    });
    if (ring === undefined) return;
    try {
      const copy = copyOwnRing(ring);
      checkJoin(path, fd, ring, copy);
      const { from, bytes, page, overtaken } = copy;
      view.overtaken += overtaken;
      if (ring.isRunning) {
        view.noteAlive(ring.pid);
        view.show(fd, { from, bytes });
        return;
      }
      view.noteDead();
      const ending = epilogueOf(page, from + bytes.length);
      view.show(fd, { from, bytes: Buffer.concat([bytes, ending.bytes]) });
    } finally {
      ring.close();
    }
  });
  return view;
}
