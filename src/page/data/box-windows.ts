import type { BoxColumns, BoxesMeta, SampleColumns } from '../../look/wire/answers.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

/** Of rows, or of samples. */
export type ShownBoxes = BoxColumns & Partial<SampleColumns>;

/** Boxes of some tracks in a window of time that is wider than the screen. */
export interface BoxWindow {
  readonly key: string;
  /** Logarithm to base 2 of ns per pixel. */
  readonly level: number;
  readonly from: number;
  readonly to: number;
  readonly revision: number;
  readonly boxes: ShownBoxes;
  /** By track and lane: first box, and the one after the last. */
  readonly lanes: ReadonlyMap<number, readonly [number, number]>;
  readonly tracks: ReadonlySet<number>;
  readonly fold: Fold;
}

interface Wish {
  key: string;
  level: number;
  from: number;
  to: number;
  width: number;
  tracks: readonly number[];
  screen: number;
  lanes: number;
  fold: Fold;
}

/** Lanes from number `lanes` on are one, except those of the tracks that are `open`, ascending. */
interface Fold {
  lanes: number;
  open: readonly number[];
}

/** The part of the time line that the screen shows. */
export interface Sight {
  from: number;
  to: number;
  /** Pixels. */
  width: number;
  /** Those that are visible, or nearly, ascending. */
  tracks: readonly number[];
  /** Lanes for which the screen has room. */
  lanes: number;
  fold: Fold;
}

/** Bytes of windows that are kept. */
const MOST_BYTES = 24 << 20;
const BYTES_A_BOX = 55;
const BYTES_A_MARK = 20;
const MOST_REQUESTS = 2;
/** Boxes that the screen may show. */
const BUDGET = 1800;
/** How much wider than the screen a window is. */
const MARGIN = 2;

export function laneKey(track: number, lane: number): number {
  return track * 65_536 + lane;
}

/** Keeps windows of boxes, and asks the server for those that are wanted. It never waits. */
export class BoxWindows {
  /** The one that was used last is the last. */
  readonly #windows = new Map<string, BoxWindow>();
  readonly #asked = new Map<string, AbortController>();
  readonly #server: Server;
  readonly #recording: RecordingData;
  readonly #path: '/data/boxes' | '/data/samples';
  /** Of samples, by track: how many calls are below each other, as far as it is known. */
  readonly depths = new Map<number, number>();
  #bytes = 0;
  #generation = '';
  #sight: Sight | undefined;
  #zoomsIn = true;
  #begin: () => void = () => undefined;
  /** Resolves with the first window: what is less urgent waits for it. */
  readonly begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });
  /** Called when there is something new to draw. */
  onChange: () => void = () => undefined;

  constructor(server: Server, recording: RecordingData, path: '/data/boxes' | '/data/samples') {
    this.#path = path;
    this.#server = server;
    this.#recording = recording;
    recording.store.watch(({ answer }) => {
      if (answer === undefined) return;
      if (answer.generation !== this.#generation) this.#forget();
      this.#generation = answer.generation;
      this.#ask();
    });
  }

  /**
   * Windows of a track in memory between two times, the most fitting first: as fine as the screen, then
   * what is coarser, then what is finer. Together they may cover the times more than once.
   */
  of(track: number, sight: Sight): BoxWindow[] {
    const level = levelOf(sight);
    return [...this.#windows.values()]
      .filter((each) => each.from < sight.to && each.to > sight.from && each.tracks.has(track))
      .filter(({ fold }) => foldOf(fold, track) === foldOf(sight.fold, track))
      .sort(
        (a, b) =>
          misfit(a.level - level) - misfit(b.level - level) ||
          b.revision - a.revision ||
          a.from - b.from,
      );
  }

  /** Says what the screen shows now. What is missing is asked for. */
  want(sight: Sight): void {
    if (this.#sight !== undefined) {
      const [before, now] = [this.#sight.to - this.#sight.from, sight.to - sight.from];
      if (before !== now) this.#zoomsIn = now < before;
    }
    this.#sight = sight;
    this.#ask();
  }

  #ask(): void {
    const { answer } = this.#recording;
    const sight = this.#sight;
    if (answer === undefined || sight === undefined || sight.tracks.length === 0) return;
    const whole = { ...sight, from: 0, to: Math.max(1, answer.length) };
    const next = neighbourOf(sight, this.#zoomsIn);
    const wishes = [wishOf(sight), wishOf(whole), wishOf(next)];
    for (const [key, asked] of this.#asked) {
      if (wishes.some((wish) => wish.key === key)) continue;
      asked.abort();
      this.#asked.delete(key);
    }
    for (const wish of wishes) {
      const known = this.#windows.get(wish.key);
      if (known !== undefined) {
        this.#windows.delete(wish.key);
        this.#windows.set(wish.key, known);
      }
      if (known?.revision === answer.revision || this.#asked.has(wish.key)) continue;
      if (this.#asked.size >= MOST_REQUESTS) return;
      void this.#fetch(wish);
    }
  }

  async #fetch({ key, level, from, to, width, tracks, screen, lanes, fold }: Wish): Promise<void> {
    const asked = new AbortController();
    this.#asked.set(key, asked);
    try {
      const { columns: boxes, meta } = await this.#server.columns<ShownBoxes, BoxesMeta>(
        this.#path,
        {
          from,
          to,
          width,
          tracks: rangesOf(tracks),
          budget: BUDGET,
          screen,
          lanes,
          fold: fold.lanes,
          open: rangesOf(fold.open),
          names: this.#recording.names.length,
        },
        asked.signal,
      );
      const { revision, firstName, names, depths = [] } = meta;
      for (const [at, depth] of depths.entries()) this.depths.set(tracks[at]!, depth);
      this.#recording.addNames(firstName, names);
      this.#keep({
        key,
        level,
        from,
        to,
        revision,
        boxes,
        lanes: lanesOf(boxes),
        tracks: new Set(tracks),
        fold,
      });
      this.#asked.delete(key);
      this.#begin();
      this.onChange();
      this.#ask();
    } catch {
      // Aborted, or the connection says why.
      if (this.#asked.get(key) === asked) this.#asked.delete(key);
    }
  }

  #keep(window: BoxWindow): void {
    this.#drop(window.key);
    this.#windows.set(window.key, window);
    this.#bytes += bytesOf(window);
    for (const key of this.#windows.keys()) {
      if (this.#bytes <= MOST_BYTES) return;
      if (key !== window.key) this.#drop(key);
    }
  }

  #drop(key: string): void {
    const window = this.#windows.get(key);
    if (window === undefined) return;
    this.#windows.delete(key);
    this.#bytes -= bytesOf(window);
  }

  #forget(): void {
    for (const asked of this.#asked.values()) asked.abort();
    this.#asked.clear();
    this.#windows.clear();
    this.depths.clear();
    this.#bytes = 0;
  }
}

/** The lane in which further ones of a track are merged. */
function foldOf({ lanes, open }: Fold, track: number): number {
  return open.includes(track) ? Infinity : lanes;
}

function bytesOf({ boxes }: BoxWindow): number {
  return boxes.row.length * BYTES_A_BOX + boxes.failedBox.length * BYTES_A_MARK + 1024;
}

function levelOf({ from, to, width }: Pick<Sight, 'from' | 'to' | 'width'>): number {
  return Math.round(Math.log2((to - from) / width));
}

/** How ill a window fits that is coarser (positive) or finer by so many levels. */
function misfit(difference: number): number {
  return difference >= 0 ? difference : difference >= -1 ? 0.5 : 100 - difference;
}

/** Half or twice the window, around the same middle. */
function neighbourOf(sight: Sight, zoomsIn: boolean): Sight {
  const half = ((sight.to - sight.from) / 2) * (zoomsIn ? 0.5 : 2);
  const middle = (sight.from + sight.to) / 2;
  return { ...sight, from: middle - half, to: middle + half };
}

/** The window on a grid that contains what the screen shows: small moves want the same. */
export function gridWindow(
  sight: Pick<Sight, 'from' | 'to' | 'width'>,
): Pick<Wish, 'level' | 'from' | 'to' | 'width'> & { column: number } {
  const level = levelOf(sight);
  const pixel = 2 ** level;
  const width = Math.ceil((sight.width * MARGIN) / 512) * 512;
  // Twice the screen at its coarsest leaves a third of a screen on either side.
  const step = (width / 8) * pixel;
  const middle = (sight.from + sight.to) / 2;
  const column = Math.round((middle - (width / 2) * pixel) / step);
  return { level, column, from: column * step, to: column * step + width * pixel, width };
}

function wishOf(sight: Sight): Wish {
  const { level, column, from, to, width } = gridWindow(sight);
  const { tracks, lanes, fold } = sight;
  const folded = `${fold.lanes} ${rangesOf(fold.open)}`;
  const key = `${level} ${column} ${width} ${lanes} ${rangesOf(tracks)} ${folded}`;
  return { key, level, from, to, width, tracks, screen: Math.ceil(sight.width), lanes, fold };
}

/** Ascending numbers as `0-3,7`. */
export function rangesOf(numbers: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < numbers.length; at++) {
    const first = numbers[at]!;
    while (numbers[at + 1] === numbers[at]! + 1) at++;
    ranges.push(first === numbers[at] ? String(first) : `${first}-${numbers[at]!}`);
  }
  return ranges.join(',');
}

/** Where each lane begins and ends in columns that are ordered by lane. */
export function lanesOf({
  track,
  lane,
}: Pick<BoxColumns, 'track' | 'lane'>): Map<number, [number, number]> {
  const lanes = new Map<number, [number, number]>();
  for (let at = 0; at < track.length; at++) {
    const key = laneKey(track[at]!, lane[at]!);
    const known = lanes.get(key);
    if (known === undefined) lanes.set(key, [at, at + 1]);
    else known[1] = at + 1;
  }
  return lanes;
}
