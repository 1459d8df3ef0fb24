import { existsSync } from 'node:fs';
import { entryOf } from '../core/map-entries.js';
import { faultOf } from '../core/fault.js';
import { TraceView } from '../core/living/trace-view.js';
import type { TraceViewer } from '../core/living/trace-view.js';
import type { FoundTrace } from './find-traces.js';
import { MappedRings } from './mapped-rings.js';
import type { TraceFormat } from '../rows/trace-format.js';

/** Traces as their rings complete them, for every reader in this thread until it is closed. */
export class TraceViews {
  readonly #ringDirs: readonly string[];
  readonly #mapped: MappedRings;
  readonly #viewers = new Map<TraceFormat, TraceViewer>();
  readonly #open: TraceView[] = [];

  /**
   * @param ringDirs where the rings are, if they are not next to the traces, nor of live processes.
   * @param mapped the rings of live processes; looked for when first needed.
   */
  constructor(ringDirs: readonly string[] = [], mapped = new MappedRings()) {
    this.#mapped = mapped;
    this.#ringDirs = ringDirs;
  }

  /** Shows a trace. Undefined: nothing lies at its path but rings. What is wrong with rings is a fault of the view. */
  show(trace: FoundTrace): TraceView | undefined {
    if (!existsSync(trace.path)) return undefined;
    let view: TraceView;
    try {
      view = this.#viewOf(trace);
    } catch (error) {
      view = new TraceView();
      view.faults.push(faultOf(trace.path, error));
    }
    this.#open.push(view);
    return view;
  }

  #viewOf({ format, path }: FoundTrace): TraceView {
    const viewer = entryOf(this.#viewers, format, () => format.traceViewer());
    const files = format.filesOf?.(path) ?? [path];
    const live = [...files].flatMap((file) => this.#mapped.directoriesOf(file));
    return viewer(path, [...new Set([...this.#ringDirs, ...live])]);
  }

  close(): void {
    for (const view of this.#open) view.close();
    this.#open.length = 0;
  }
}
