import { fstatSync } from 'node:fs';
import {
  copyOwnRing,
  noteRing,
  openOwnRing,
  ownFileViewer,
} from '../../core/living/own-file-viewer.js';
import type { TraceViewer } from '../../core/living/trace-view.js';
import { readerOf, withEnding } from '../../core/recovery/own-file.js';
import { kindOfRingFormat, ringOf } from '../file-names.js';
import { endingOf } from './recover.js';

/**
 * Shows traces as their rings complete them: of a dead process with its end, if it is a kernel trace.
 *
 * @returns what shows one trace.
 */
export function traceViewer(): TraceViewer {
  return ownFileViewer((view, path, directories) => {
    view.ofFile(path, (fd) => {
      const ring = openOwnRing(fstatSync(fd), {
        nextTo: ringOf(path),
        directories,
        isFormat: (format) => kindOfRingFormat(format) !== undefined,
      });
      if (ring === undefined) return;
      try {
        const copy = copyOwnRing(ring);
        noteRing(view, { path, fd }, ring, copy);
        const end = copy.from + copy.bytes.length;
        const shown = ring.isRunning
          ? copy
          : withEnding(copy, endingOf(path, copy.page, readerOf(fd, copy), end));
        view.show(fd, shown);
      } finally {
        ring.close();
      }
    });
  });
}
