import { BoxColours } from './box-colours.js';
import { Curves } from '../data/curves.js';
import { LitMatches } from '../data/lit-matches.js';
import { Messages } from '../data/messages.js';
import { utcText } from './axis-text.js';
import type { Sight } from '../data/box-windows.js';
import { durationText } from '../../look/report/measures/units.js';
import { codeOfName, functionText } from '../../look/report/names/code-text.js';
import type { App } from '../state/app.js';
import { STATUS_COLOURS } from '../theme/palette.js';
import { canvasColours, type CanvasColours, textScale } from '../theme/theme.js';
import { collectBoxes } from './collect-boxes.js';
import type { Scale } from './collect-boxes.js';
import { LABEL_FONT, drawBoxes } from './draw-boxes.js';
import type { BoxStyle, SelectedBox } from './draw-boxes.js';
import {
  AXIS_HEIGHT,
  HEAD_FONT,
  TEXT_FONT,
  drawAxis,
  drawCurve,
  drawHead,
  drawNames,
} from './draw-frame.js';
import { drawMessages } from './draw-messages.js';
import { litBoxes } from './lit-boxes.js';
import { Labels } from './labels.js';
import {
  EVERY_LANE,
  HEAD_HEIGHT,
  LANE_HEIGHT,
  foldOf,
  gutterOf,
  heightOf,
  linesOf,
} from './lines.js';
import type { HeadLine, Line, TrackLine } from './lines.js';
import { Picture } from './picture.js';
import { markProcesses, shownKey, type ShownProcesses, shownProcesses } from './shown-processes.js';
import type { TimeLineCanvas } from './picture.js';

/** Tracks are asked for in groups, so that scrolling a little wants the same. */
const TRACK_GROUP = 16;

/** A narrower box has no room for more than a method, in pixels. */
const PATH_WIDTH = 40;

/** Draws the time line on a canvas: one frame for each change, from what is in memory. */
export class TimeLine {
  readonly picture = new Picture();
  readonly #canvas: TimeLineCanvas;
  readonly #app: App;
  readonly #context: CanvasRenderingContext2D;
  readonly #labels: Labels;
  readonly #names: Labels;
  readonly #titles: Labels;
  readonly #curves: Curves;
  readonly #messages: Messages;
  readonly #matches: LitMatches;
  /** Which processes are shown how, as the view says it. */
  #shownKey = '';
  /** Tracks whose lanes are all shown. */
  readonly #open = new Set<number>();
  /** Lanes of other tracks before those that are folded. */
  #fold = EVERY_LANE;
  /** The most height that there has been since the window has its size: the details fold no lanes. */
  #room = 0;
  #window = '';
  /** Of the canvas. */
  #size = '';
  readonly #ends: (() => void)[] = [];
  readonly #boxColours: BoxColours;
  #generation = '';
  #lines: Line[] = [];
  #colours: CanvasColours;
  #frame = 0;
  #width = 1;
  #height = 1;
  /** Pixels of lines above the visible ones. */
  scroll = 0;
  /** Pixels of CSS to one of the picture: more than one where texts are large. */
  pixel = 1;

  constructor(canvas: TimeLineCanvas, app: App) {
    this.#canvas = canvas;
    this.#app = app;
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) throw new Error('this browser has no canvas');
    this.#context = context;
    this.#boxColours = new BoxColours(app.recording, this.picture);
    this.#labels = new Labels(context, LABEL_FONT);
    this.#names = new Labels(context, TEXT_FONT);
    this.#titles = new Labels(context, HEAD_FONT);
    this.#curves = new Curves(app.server, app.recording);
    this.#messages = new Messages(app.server, app.recording);
    this.#matches = new LitMatches(app.server, app.recording);
    this.#colours = canvasColours();
    canvas.picture = this.picture;
    const invalidate = this.invalidate.bind(this);
    app.windows.onChange = invalidate;
    // How deep the samples are may be known now.
    app.samples.onChange = () => {
      this.#layOut();
    };
    this.#curves.onChange = invalidate;
    this.#messages.onChange = invalidate;
    this.#matches.onChange = invalidate;
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const recolour = this.#recolour.bind(this);
    dark.addEventListener('change', recolour);
    const sizes = new ResizeObserver(() => {
      this.#resize();
    });
    sizes.observe(canvas);
    this.#ends.push(
      app.view.watch((state) => {
        const key = shownKey(state);
        if (key !== this.#shownKey) this.#layOut();
        this.#shownKey = key;
        recolour();
      }),
      app.lit.watch(invalidate),
      app.selected.store.watch(invalidate),
      app.sample.watch(invalidate),
      app.rowNames.store.watch(invalidate),
      app.recording.store.watch(() => {
        this.#layOut();
      }),
      () => {
        dark.removeEventListener('change', recolour);
        sizes.disconnect();
        cancelAnimationFrame(this.#frame);
      },
    );
    this.#resize();
  }

  end(): void {
    for (const end of this.#ends) end();
  }

  /** Draws with the next frame. */
  invalidate(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  /** The window that is shown, in ns, and where it lies on the canvas. */
  get scale(): Scale {
    const { from, to } = shownWindow(this.#app);
    const left = this.gutter;
    return { from, to, left, width: Math.max(1, this.#width - left) };
  }

  /** Width of the column with the names of tracks, in pixels. */
  get gutter(): number {
    return gutterOf(this.#width);
  }

  scrollBy(pixels: number): void {
    const most = Math.max(0, heightOf(this.#lines) - (this.#height - AXIS_HEIGHT));
    this.scroll = Math.min(most, Math.max(0, this.scroll + pixels));
    this.invalidate();
  }

  #shown(): ShownProcesses {
    return shownProcesses(this.#app.view.value, this.#app.recording.answer!);
  }

  #foldProcess(process: number, on: boolean): void {
    markProcesses(this.#app.view, this.#app.recording.answer!, 'folded', [process], on);
  }

  /** Scrolls until a lane is visible. */
  reveal(track: number, lane: number): void {
    const isIt = (each: Line): boolean => each.kind === 'track' && each.track.number === track;
    const process = this.#app.recording.answer?.tracks[track]?.process;
    if (process !== undefined && this.#shown().folded.has(process)) {
      this.#foldProcess(process, false);
    }
    let line = this.#lines.find(isIt);
    if (line?.kind === 'track' && lane >= line.lanes - Math.min(1, line.folded)) {
      this.toggleLanes(track);
      line = this.#lines.find(isIt);
    }
    if (line?.kind !== 'track') return;
    const top = line.y + line.nameHeight + lane * line.laneHeight;
    const visible = this.#height - AXIS_HEIGHT;
    // The title of the process covers the first line.
    if (top < this.scroll + HEAD_HEIGHT) this.scrollBy(top - this.scroll - 2 * HEAD_HEIGHT);
    else if (top + line.laneHeight > this.scroll + visible) {
      this.scrollBy(top + line.laneHeight - this.scroll - visible + 20);
    }
  }

  /** Opens or closes what has its title at a point: a process, or further lanes. @returns whether one has. */
  toggleAt(x: number, y: number): boolean {
    if (y < AXIS_HEIGHT) return false;
    const head = this.#headAt(y);
    if (head !== undefined) {
      this.#foldProcess(head.process, !this.#shown().folded.has(head.process));
      return true;
    }
    const below = y - AXIS_HEIGHT + this.scroll;
    const line = this.#lines.find((each) => below >= each.y && below < each.y + each.height);
    if (line?.kind !== 'track' || (line.folded === 0 && !line.isOpen)) return false;
    const isName = this.gutter === 0 ? below < line.y + line.nameHeight : x < this.gutter;
    if (isName) this.toggleLanes(line.track.number);
    return isName;
  }

  /** Shows all lanes of a track, or folds them again; of every track unless one is given. */
  toggleLanes(track?: number): void {
    const folding = this.#lines.filter(
      (line): line is TrackLine => line.kind === 'track' && (line.folded > 0 || line.isOpen),
    );
    const chosen =
      track === undefined ? folding : folding.filter((each) => each.track.number === track);
    const opens = chosen.some(({ folded }) => folded > 0);
    for (const each of chosen) {
      if (opens) this.#open.add(each.track.number);
      else this.#open.delete(each.track.number);
    }
    this.#layOut();
  }

  /** The box at a point, unless a title covers it; -1 if there is none. */
  boxAt(x: number, y: number): number {
    return y < AXIS_HEIGHT || this.#headAt(y) !== undefined ? -1 : this.picture.at(x, y);
  }

  /** The process whose title is at a height, and which may have been scrolled on. */
  #headAt(y: number): HeadLine | undefined {
    return this.#heads().find(({ top, line }) => y >= top && y < top + line.height)?.line;
  }

  /** The titles of processes, and where they are drawn: that of the uppermost stays while its lines are shown. */
  #heads(): { line: HeadLine; top: number }[] {
    const heads = this.#lines.filter((line) => line.kind === 'head');
    return heads.map((line, at) => {
      const top = AXIS_HEIGHT + line.y - this.scroll;
      const next = heads[at + 1];
      const end = (next?.y ?? heightOf(this.#lines)) - this.scroll + AXIS_HEIGHT;
      return { line, top: Math.max(top, Math.min(AXIS_HEIGHT, end - line.height)) };
    });
  }

  #layOut(): void {
    const { answer } = this.#app.recording;
    if (answer === undefined) return;
    if (answer.generation !== this.#generation) {
      this.#boxColours.forget();
      this.#open.clear();
    }
    this.#generation = answer.generation;
    const window = `${innerWidth} ${innerHeight} ${answer.generation}`;
    if (window !== this.#window) this.#room = 0;
    this.#window = window;
    this.#room = Math.max(this.#room, this.#height - AXIS_HEIGHT);
    const shown = shownProcesses(this.#app.view.value, answer);
    const { depths } = this.#app.samples;
    const every = linesOf(answer, shown, this.#width, EVERY_LANE, this.#open, depths);
    // Samples lie below all lanes of their thread.
    const room = shown.samples.size > 0 ? this.#height - AXIS_HEIGHT : this.#room;
    this.#fold = foldOf(every, room);
    this.#lines =
      this.#fold === EVERY_LANE
        ? every
        : linesOf(answer, shown, this.#width, this.#fold, this.#open, depths);
    this.scrollBy(0);
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    const ratio = window.devicePixelRatio;
    const size = `${clientWidth} ${clientHeight} ${ratio}`;
    // An observer also reports the size that it finds.
    if (size === this.#size) return;
    this.#size = size;
    this.pixel = textScale();
    this.#width = Math.max(1, clientWidth / this.pixel);
    this.#height = Math.max(1, clientHeight / this.pixel);
    this.#canvas.width = Math.max(1, Math.round(clientWidth * ratio));
    this.#canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    this.#context.setTransform(ratio * this.pixel, 0, 0, ratio * this.pixel, 0, 0);
    for (const labels of [this.#labels, this.#names, this.#titles]) labels.clear();
    this.#layOut();
    // A canvas that changed its size is empty: drawing at once spares a blank frame.
    this.#draw();
  }

  #recolour(): void {
    this.#colours = canvasColours();
    this.invalidate();
  }

  #draw(): void {
    const { recording, windows, samples } = this.#app;
    const context = this.#context;
    const { picture } = this;
    context.fillStyle = this.#colours.page;
    context.fillRect(0, 0, this.#width, this.#height);
    picture.clear();
    if (recording.answer === undefined) return;
    const { scale } = this;
    const begin = utcText(recording.answer, 0)?.slice(11);
    drawAxis(context, scale, this.#height, begin, this.#names, this.#colours);
    const top = AXIS_HEIGHT - this.scroll;
    const visible = this.#lines.filter(
      ({ y, height }) => top + y + height > AXIS_HEIGHT && top + y < this.#height,
    );
    const sight = this.#sightOf(scale, visible);
    windows.want(sight);
    const sampled = visible.filter((line) => line.kind === 'samples');
    const tracks = sampled.map(({ track }) => track.number).sort((a, b) => a - b);
    const samplesSight = { ...sight, tracks, fold: { lanes: EVERY_LANE, open: [] } };
    samples.want(samplesSight);
    const curves = visible.filter((line) => line.kind === 'curve');
    const counters = curves.map(({ counter }) => counter).sort((a, b) => a - b);
    this.#curves.want(scale.from, scale.to, scale.width, counters);
    this.#messages.want(scale.from, scale.to);
    this.#matches.want(sight, this.#app.lit.value.text);

    context.save();
    context.beginPath();
    context.rect(0, AXIS_HEIGHT, this.#width, this.#height - AXIS_HEIGHT);
    context.clip();
    for (const line of visible) {
      if (line.kind === 'track') {
        const y = top + line.y + line.nameHeight;
        collectBoxes(picture, line, windows, sight, scale, y);
      } else if (line.kind === 'samples') {
        const y = top + line.y + line.nameHeight;
        collectBoxes(picture, line, samples, samplesSight, scale, y);
      } else if (line.kind === 'curve') {
        const curve = this.#curves.of(line.counter);
        drawCurve(context, line, curve, scale, top + line.y, this.#colours);
      }
    }
    drawBoxes(context, picture, this.#labels, {
      colours: this.#colours,
      ...this.#boxColours.style(this.#app.view.value.colour, this.#colours),
      failedColour: this.#app.view.value.colour === 'status' ? STATUS_COLOURS[2] : undefined,
      nameOf: (box) => this.#nameOf(box),
      lit: this.#litBoxes(scale),
      selected: this.selected,
    });
    drawMessages(context, this.#messages.shown, this.#lines, scale, top, this.#colours);
    drawNames(context, visible, top, scale, this.#names, this.#colours);
    const { folded } = this.#shown();
    for (const { line, top: y } of this.#heads()) {
      if (y + line.height <= AXIS_HEIGHT || y >= this.#height) continue;
      const isClosed = folded.has(line.process);
      drawHead(context, line, y, this.#width, isClosed, this.#titles, this.#colours);
    }
    context.restore();
    this.#drawRange(scale);
    picture.frames += 1;
  }

  /** Which of the picture's boxes are lit; undefined: all. */
  #litBoxes(scale: Scale): BoxStyle['lit'] {
    const { rows } = this.#app.lit.value;
    if (rows === undefined) return undefined;
    return litBoxes(this.picture, rows, this.#matches, scale);
  }

  /** One row that is wide enough for a path is called by it. */
  #nameOf(box: number): string {
    const { recording, rowNames } = this.#app;
    const { name, count, left, right, row, start, samples } = this.picture;
    if (samples[box]! > 0) return functionText(codeOfName(recording.name(name[box]!)));
    const isWide = count[box] === 1 && right[box]! - left[box]! >= PATH_WIDTH;
    return isWide
      ? rowNames.nameOf(name[box]!, row[box]!, start[box]!)
      : recording.name(name[box]!);
  }

  get selected(): SelectedBox | undefined {
    const { row } = this.#app.view.value;
    const { selected: sample } = this.#app.sample.value;
    const { answer } = this.#app.selected.store.value;
    if (row !== undefined) return { row, times: answer?.row === row ? answer : undefined };
    return sample && { row: -1, times: { ...sample, duration: sample.length } };
  }

  #drawRange({ from, to, left, width }: Scale): void {
    const { rangeFrom, rangeTo } = this.#app.view.value;
    if (rangeFrom === undefined || rangeTo === undefined) return;
    const at = (time: number): number =>
      left + width * Math.min(1, Math.max(0, (time - from) / (to - from)));
    const [first, last] = [at(rangeFrom), at(rangeTo)];
    this.#context.fillStyle = this.#colours.range;
    this.#context.fillRect(first, 0, last - first, this.#height);
    const text = this.#names.fit(durationText(rangeTo - rangeFrom), width);
    this.#context.font = TEXT_FONT;
    this.#context.textBaseline = 'middle';
    this.#context.textAlign = 'center';
    this.#context.fillStyle = this.#colours.text;
    const middle = Math.min(left + width - 30, Math.max(left + 30, (first + last) / 2));
    this.#context.fillText(text, middle, AXIS_HEIGHT + HEAD_HEIGHT / 2);
  }

  #sightOf({ from, to, width }: Scale, visible: readonly Line[]): Sight {
    const shown = visible.filter((line) => line.kind === 'track');
    const groups = new Set(shown.map(({ track }) => Math.floor(track.number / TRACK_GROUP)));
    const asked = this.#lines.filter(
      (line): line is TrackLine =>
        line.kind === 'track' && groups.has(Math.floor(line.track.number / TRACK_GROUP)),
    );
    return {
      from,
      to,
      width,
      tracks: asked.map(({ track }) => track.number).sort((a, b) => a - b),
      lanes: Math.ceil(this.#height / LANE_HEIGHT),
      fold: { lanes: this.#fold, open: [...this.#open].sort((a, b) => a - b) },
    };
  }
}

/** The window of the view, or the whole recording. */
export function shownWindow(app: App): { from: number; to: number } {
  const { view, recording } = app;
  const { from, to } = view.value;
  const length = Math.max(1, recording.answer?.length ?? 1);
  if (from === undefined || to === undefined) return { from: 0, to: length };
  // A window that follows keeps its size and ends with the recording.
  if (isFollowing(app)) return { from: length - (to - from), to: length };
  return { from, to };
}

/** Whether the window moves on with a live recording. */
export function isFollowing({ view, recording }: App): boolean {
  return view.value.follow && recording.answer?.live === true;
}
