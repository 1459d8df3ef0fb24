import { TracewrightError } from '../errors.js';
import type { RingWriter } from '../recovery/lost-ring.js';
import { isAliveHere } from '../recovery/ring-owner.js';
import type { LivingRing } from './living-ring.js';
import { checkJoin } from '../recovery/own-file.js';
import type { OwnFileCopy } from './own-file-ring.js';
import { RingDirectories } from './ring-directories.js';
import { TraceView } from './trace-view.js';
import type { TraceViewer } from './trace-view.js';

/**
 * Shows traces of which each file has a ring of its own. Directories with rings are read once for all.
 *
 * @param show completes one trace.
 */
export function ownFileViewer(
  show: (view: TraceView, path: string, directories: RingDirectories) => void,
): TraceViewer {
  const known = new Map<string, RingDirectories>();
  return (path, ringDirs = []) => {
    const key = ringDirs.join('\0');
    let directories = known.get(key);
    if (directories === undefined) known.set(key, (directories = new RingDirectories(ringDirs)));
    const view = new TraceView();
    show(view, path, directories);
    return view;
  };
}

/**
 * Notes in a view what a ring adds to a file, and whether its process runs.
 *
 * @throws TraceFormatError when the ring feeds another file.
 */
export function noteRing(
  view: TraceView,
  file: { path: string; fd: number },
  ring: LivingRing,
  copy: OwnFileCopy,
): void {
  checkJoin(file.path, file.fd, ring, copy);
  view.overtaken += copy.overtaken;
  if (ring.isRunning) view.noteAlive(ring.pid);
  else view.noteDead();
}

/**
 * Notes in a view that the ring of a file is not here.
 *
 * @param latest what a live process has in it, for the message.
 * @returns whether the process runs.
 */
export function noteMissingRing(
  view: TraceView,
  path: string,
  writer: RingWriter,
  latest: string,
): boolean {
  const isAlive = isAliveHere(writer);
  const lost = isAlive ? `its latest ${latest} are missing` : 'what it held is lost';
  const message = `${path}: its ring ${writer.ring} is not here: ${lost}`;
  view.faults.push(
    new TracewrightError('ERR_SYSTEM', message, { field: 'ringDir', value: writer.ring }),
  );
  if (isAlive) view.noteAlive(writer.pid);
  else view.noteDead();
  return isAlive;
}
