import { useEffect, useRef } from 'preact/hooks';
import type { OverviewColumns } from '../../look/wire/answers.js';
import { LastQuestion } from '../data/last-question.js';
import { useApp } from '../state/app.js';
import type { App } from '../state/app.js';
import { type CanvasColours, canvasColours, textScale } from '../theme/theme.js';
import { TEXT_FONT } from './draw-frame.js';
import { gutterOf } from './lines.js';
import { showWindow } from './navigation.js';
import { shownWindow } from './time-line.js';

/** The whole recording in one strip: how busy it was, and which part of it the time line shows. */
export function OverviewStrip() {
  const app = useApp();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const strip = canvas.current && new Strip(canvas.current, app);
    return () => strip?.end();
  }, [app]);
  return (
    <div class="strip">
      <canvas ref={canvas} id="overview" aria-hidden="true" />
    </div>
  );
}

class Strip {
  readonly #canvas: HTMLCanvasElement;
  readonly #app: App;
  readonly #ends: (() => void)[];
  #rows: Float64Array = new Float64Array(0);
  readonly #question = new LastQuestion();
  #frame = 0;
  /** Where the last drag began, in ns. */
  #start: number | undefined;

  constructor(canvas: HTMLCanvasElement, app: App) {
    this.#canvas = canvas;
    this.#app = app;
    const invalidate = (): void => {
      if (this.#frame === 0) this.#frame = requestAnimationFrame(this.#draw.bind(this));
    };
    const sizes = new ResizeObserver(() => {
      this.#ask(invalidate);
      invalidate();
    });
    sizes.observe(canvas);
    const ending = new AbortController();
    const { signal } = ending;
    canvas.addEventListener('pointerdown', this.#onDown.bind(this), { signal });
    canvas.addEventListener('pointermove', this.#onMove.bind(this), { signal });
    canvas.addEventListener('pointerup', this.#onUp.bind(this), { signal });
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', invalidate, { signal });
    this.#ends = [
      app.view.watch(invalidate),
      app.lit.watch(invalidate),
      app.recording.store.watch(() => {
        this.#ask(invalidate);
      }),
      () => {
        ending.abort();
        sizes.disconnect();
        cancelAnimationFrame(this.#frame);
      },
    ];
    this.#ask(invalidate);
  }

  end(): void {
    for (const end of this.#ends) end();
  }

  /** Where it lies on the canvas in CSS pixels: that of the time line below it. */
  get #extent(): { left: number; width: number } {
    const { clientWidth } = this.#canvas;
    const scale = textScale();
    const left = gutterOf(clientWidth / scale) * scale;
    return { left, width: Math.max(1, clientWidth - left) };
  }

  get #length(): number {
    return Math.max(1, this.#app.recording.answer?.length ?? 1);
  }

  #ask(done: () => void): void {
    const { server, windows, recording } = this.#app;
    const { answer } = recording;
    const width = Math.min(8192, Math.round(this.#extent.width));
    const key = `${answer?.generation ?? ''} ${answer?.revision ?? 0} ${width}`;
    if (answer === undefined) return;
    this.#question.ask(
      key,
      async (signal) => {
        await windows.begun;
        return server.columns<OverviewColumns>('/data/overview', { width }, signal);
      },
      ({ columns }) => {
        this.#rows = columns.rows;
        done();
      },
    );
  }

  #draw(): void {
    this.#frame = 0;
    const canvas = this.#canvas;
    const [whole, height] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = window.devicePixelRatio;
    if (canvas.width !== Math.round(whole * ratio)) canvas.width = Math.round(whole * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d');
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = canvasColours();
    context.fillStyle = colours.band;
    context.fillRect(0, 0, whole, height);
    const { left, width } = this.#extent;
    this.#drawName(context, left, colours.quiet);
    context.save();
    context.translate(left, 0);
    this.#drawRows(context, width, height, colours);
    context.restore();
  }

  #drawName(context: CanvasRenderingContext2D, gutter: number, colour: string): void {
    if (gutter === 0) return;
    const scale = textScale();
    context.save();
    context.scale(scale, scale);
    context.font = TEXT_FONT;
    context.textBaseline = 'top';
    context.fillStyle = colour;
    context.fillText('whole recording', 14, 4);
    context.restore();
  }

  #drawRows(
    context: CanvasRenderingContext2D,
    width: number,
    height: number,
    colours: CanvasColours,
  ): void {
    const rows = this.#rows;
    const most = rows.reduce((max, value) => Math.max(max, value), 1);
    // One outline: bars next to each other would be a comb where they do not begin at a pixel of the screen.
    context.beginPath();
    context.moveTo(0, height);
    const each = width / rows.length;
    for (let at = 0; at < rows.length; at++) {
      // The root keeps a quiet minute visible next to a peak.
      const top = height - Math.sqrt(rows[at]! / most) * (height - 6);
      context.lineTo(at * each, top);
      context.lineTo((at + 1) * each, top);
    }
    context.lineTo(width, height);
    context.fillStyle = colours.curve;
    context.fill();
    this.#drawLit(context, width, colours.lit);
    const { from, to } = shownWindow(this.#app);
    const first = Math.max(0, (from / this.#length) * width);
    const last = Math.min(width, Math.max(first + 2, (to / this.#length) * width));
    context.fillStyle = colours.range;
    context.fillRect(first, 0, last - first, height);
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    context.strokeRect(first + 1, 1, Math.max(1, last - first - 2), height - 2);
  }

  #drawLit(context: CanvasRenderingContext2D, width: number, colour: string): void {
    context.fillStyle = colour;
    for (const mark of this.#app.lit.value.marks) {
      context.fillRect(Math.floor(mark * width), 0, 1, 6);
    }
  }

  #timeAt(event: PointerEvent): number {
    const { left, width } = this.#extent;
    const x = event.clientX - this.#canvas.getBoundingClientRect().left - left;
    return Math.max(0, Math.min(1, x / width)) * this.#length;
  }

  #onDown(event: PointerEvent): void {
    this.#canvas.setPointerCapture(event.pointerId);
    this.#start = this.#timeAt(event);
  }

  /** A drag shows what it passes. */
  #onMove(event: PointerEvent): void {
    if (this.#start === undefined) return;
    const time = this.#timeAt(event);
    const wide = (Math.abs(time - this.#start) / this.#length) * this.#extent.width > 4;
    if (wide) showWindow(this.#app, Math.min(time, this.#start), Math.max(time, this.#start));
  }

  /** A click moves the window. */
  #onUp(event: PointerEvent): void {
    if (this.#start === undefined) return;
    const time = this.#timeAt(event);
    const narrow = (Math.abs(time - this.#start) / this.#length) * this.#extent.width <= 4;
    this.#start = undefined;
    if (!narrow) return;
    const { from, to } = shownWindow(this.#app);
    showWindow(this.#app, time - (to - from) / 2, time + (to - from) / 2);
  }
}
