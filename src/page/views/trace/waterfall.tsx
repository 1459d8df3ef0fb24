import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { nameWithTarget } from '../../../look/report/names/request-name.js';
import { NOT_RECORDED } from '../../../look/report/print/report-texts.js';
import { countText, durationText } from '../../../look/report/measures/units.js';
import type { TraceAnswer, WaterfallPause, WaterfallRow } from '../../../look/wire/view-answers.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { textScale } from '../../theme/theme.js';
import { axisStep, fileName, tickText } from '../../time-line/axis-text.js';
import { cssColour } from '../../theme/palette.js';
import { serviceOf } from '../../data/recording-data.js';
import { TreeRows } from './tree-rows.js';

/** Pixels of a row, as waterfall.css has them, and rows that are drawn beyond the visible ones. */
const ROW_HEIGHT = 22;
const BEYOND = 10;
/** Levels of the tree that are indented, each by so many pixels. */
const MOST_INDENTED = 16;
const INDENT = 12;
/** Of the width, ticks of the axis are so far apart at least. */
const TICK = 1 / 5;

interface Window {
  from: number;
  length: number;
}

/** The spans of a trace as a tree, and when each was open. */
export function Waterfall({ answer }: { answer: TraceAnswer }) {
  const app = useApp();
  const { rows, begin } = answer;
  const tree = useMemo(() => new TreeRows(rows), [rows]);
  const [closed, close] = useState(() => tree.closedAtFirst());
  const [active, activate] = useState(() => rowToShow(rows, app.view.value.row));
  const [zoomed, zoom] = useState<Window | undefined>(undefined);
  const [scrolled, scroll] = useState({ top: 0, height: 0 });
  const selected = useStore(app.view, ({ row }) => row);
  const list = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => tree.shown(closed), [tree, closed]);
  const height = ROW_HEIGHT * textScale();
  const end = rows.reduce((last, { start, duration, repeated }) => {
    return repeated > 1 ? last : Math.max(last, start + duration);
  }, begin + 1);
  const window = zoomed ?? { from: begin, length: end - begin };
  const first = Math.max(0, Math.floor(scrolled.top / height) - BEYOND);
  const last = Math.ceil((scrolled.top + scrolled.height) / height) + BEYOND;

  useEffect(() => {
    // A living recording has more of the trace now.
    close((before) => tree.opened(new Set([...tree.closedAtFirst(), ...before]), active));
  }, [tree]);
  useEffect(() => {
    // A link of the details, or of another view.
    if (selected === undefined || rows[active]?.row === selected) return;
    const at = rowToShow(rows, selected);
    activate(at);
    close((before) => tree.opened(before, at));
  }, [selected]);
  useEffect(() => {
    const element = list.current!;
    const update = (): void => {
      scroll({ top: element.scrollTop, height: element.clientHeight });
    };
    const watch = new ResizeObserver(update);
    watch.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, []);
  useEffect(() => {
    const element = list.current!;
    const top = shown.indexOf(active) * height;
    const head = height;
    if (top < 0) return;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height + head > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height + head - element.clientHeight;
  }, [active, shown]);

  const go = (at: number | undefined): void => {
    const row = at === undefined ? undefined : rows[at];
    if (row === undefined) return;
    activate(at!);
    if (row.row !== null) app.view.set({ row: row.row, key: undefined });
  };
  const toggle = (at: number): void => {
    const next = new Set(closed);
    if (!next.delete(at)) next.add(at);
    close(next);
  };
  const toggleZoom = (at: number): void => {
    const { start, duration, repeated } = rows[at]!;
    if (repeated > 1) return;
    const isIt = zoomed !== undefined && active === at;
    zoom(isIt ? undefined : { from: start, length: Math.max(1, duration) });
  };
  const onKey = (event: KeyboardEvent): void => {
    const at = shown.indexOf(active);
    const page = Math.max(1, Math.floor(scrolled.height / height) - 2);
    const isClosed = closed.has(active);
    const isParent = tree.hasChildren(active);
    const targets: Readonly<Record<string, number | undefined>> = {
      ArrowDown: shown[at + 1],
      ArrowUp: shown[at - 1],
      PageDown: shown[Math.min(shown.length - 1, at + page)],
      PageUp: shown[Math.max(0, at - page)],
      Home: shown[0],
      End: shown.at(-1),
      ArrowRight: isParent ? active + 1 : undefined,
      ArrowLeft: tree.above(active),
    };
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isParent && (key === 'Enter' || key === (isClosed ? 'ArrowRight' : 'ArrowLeft'))) {
      toggle(active);
    } else if (key in targets) go(targets[key]);
    else if (key === 'z') toggleZoom(active);
    else if (key === 'Escape') zoom(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="waterfall-frame">
      <Tools
        rows={rows}
        isZoomed={zoomed !== undefined}
        onZoomOut={() => {
          zoom(undefined);
        }}
        onFold={() => {
          close(tree.parents());
        }}
        onUnfold={() => {
          close(new Set());
        }}
      />
      <div
        ref={list}
        class="waterfall"
        role="treegrid"
        aria-label="Spans of the trace: arrows move, right and left unfold and fold, z zooms"
        aria-rowcount={shown.length + 1}
        aria-activedescendant={`span-${active}`}
        tabIndex={0}
        onKeyDown={onKey}
      >
        <HeadRow window={window} begin={begin} />
        <div
          role="rowgroup"
          class="waterfall-body"
          style={{ height: `${shown.length * height}px` }}
        >
          {shown.slice(first, last).map((at, i) => (
            <SpanRow
              key={at}
              at={at}
              rank={first + i}
              top={(first + i) * height}
              row={rows[at]!}
              members={rows[at]!.repeated > 1 ? membersOf(tree, rows, at) : undefined}
              isClosed={tree.hasChildren(at) ? closed.has(at) : undefined}
              isActive={at === active}
              window={window}
              onGo={() => {
                go(at);
              }}
              onToggle={() => {
                go(at);
                toggle(at);
              }}
              onZoom={() => {
                go(at);
                toggleZoom(at);
              }}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The row of the tree for a row of the index: the span itself, if it is shown by one. */
function rowToShow(rows: readonly WaterfallRow[], row: number | undefined): number {
  const at = rows.findIndex((each) => each.row === row && each.repeated === 1);
  return Math.max(0, at);
}

/** Of a window, the bars of one row are so far apart at least. */
const APART = 1 / 500;

type Stretch = Pick<WaterfallRow, 'status' | 'unfinished' | 'waited'> & {
  from: number;
  to: number;
};

/** When some spans were open: those that lie close together are one stretch. */
function stretchesOf(spans: readonly WaterfallRow[], { length }: Window): Stretch[] {
  const stretches: Stretch[] = [];
  for (const { start, duration, status, unfinished, waited } of spans) {
    const [last, to] = [stretches.at(-1), start + duration];
    if (last === undefined || start > last.to + APART * length) {
      stretches.push({ from: start, to, status, unfinished, waited });
      continue;
    }
    last.to = Math.max(last.to, to);
    last.waited += waited;
    if (status === 'error') last.status = status;
  }
  return stretches;
}

interface ShownPause {
  what: WaterfallPause[0];
  from: number;
  to: number;
  /** Ns of it in which a span was open. */
  time: number;
}

/** What kept the threads of some spans: of several, pauses that lie close together are one. */
function pausesOf(spans: readonly WaterfallRow[], { length }: Window): ShownPause[] {
  const shown: ShownPause[] = [];
  const all = spans.flatMap(({ pauses }) => pauses).sort((a, b) => a[1] - b[1]);
  for (const [what, from, to] of all) {
    const last = shown.findLast((each) => each.what === what);
    if (last === undefined || spans.length === 1 || from > last.to + APART * length) {
      shown.push({ what, from, to, time: to - from });
      continue;
    }
    last.time += Math.max(0, to - Math.max(from, last.to));
    last.to = Math.max(last.to, to);
  }
  return shown;
}

function membersOf(tree: TreeRows, rows: readonly WaterfallRow[], at: number): WaterfallRow[] {
  return [...tree.children(at)].map((child) => rows[child]!);
}

interface ToolsProps {
  rows: readonly WaterfallRow[];
  isZoomed: boolean;
  onZoomOut: () => void;
  onFold: () => void;
  onUnfold: () => void;
}

/** What the colours mean, and what changes the tree. */
function Tools({ rows, isZoomed, onZoomOut, onFold, onUnfold }: ToolsProps) {
  const { recording } = useApp();
  const sources = recording.answer?.sources ?? [];
  const numbers = new Set(rows.map(({ source }) => source));
  const services = [...new Set(sources.filter(({ number }) => numbers.has(number)).map(serviceOf))];
  return (
    <div class="waterfall-tools">
      <ul class="legend">
        {services.map((service) => (
          <li key={service}>
            <span
              class="swatch"
              style={{ backgroundColor: recording.serviceColours.of(service) }}
            />
            {fileName(service)}
          </li>
        ))}
        <li>
          <span class="swatch critical" /> critical path
        </li>
        <li class="sentence">self: no child ran; waited: the part of it on the critical path</li>
        {rows.some(({ pauses }) => pauses.length > 0) && (
          <>
            <li>
              <span class="swatch" style={{ backgroundColor: cssColour('stall') }} /> loop blocked
            </li>
            <li>
              <span class="swatch" style={{ backgroundColor: cssColour('collection') }} /> garbage
              collection
            </li>
          </>
        )}
      </ul>
      {isZoomed && (
        <button type="button" onClick={onZoomOut}>
          Whole trace
        </button>
      )}
      <button type="button" onClick={onUnfold}>
        Unfold all
      </button>
      <button type="button" onClick={onFold}>
        Fold all
      </button>
    </div>
  );
}

function HeadRow({ window, begin }: { window: Window; begin: number }) {
  const { from, length } = window;
  const step = axisStep(length * TICK);
  const ticks: number[] = [];
  const since = from - begin;
  for (let tick = Math.ceil(since / step); tick * step < since + 0.93 * length; tick++) {
    ticks.push(tick * step);
  }
  return (
    <div role="row" class="span-row span-head" aria-rowindex={1}>
      <div role="columnheader">span</div>
      <div role="columnheader" class="of-service">
        service
      </div>
      <div role="columnheader" class="number">
        duration
      </div>
      <div role="columnheader" class="number of-self" title="The time in which no child ran">
        self
      </div>
      <div
        role="columnheader"
        class="number of-waited"
        title="The time of the critical path that the span took itself"
      >
        waited
      </div>
      <div role="columnheader" class="bars">
        <span class="spoken">when</span>
        {ticks.map((tick) => (
          <span
            key={tick}
            class="tick"
            style={{ left: `${(((tick - since) / length) * 100).toFixed(2)}%` }}
          >
            {tickText(tick, step)}
          </span>
        ))}
      </div>
    </div>
  );
}

interface SpanRowProps {
  at: number;
  /** How many of those that are shown come before. */
  rank: number;
  top: number;
  row: WaterfallRow;
  /** Those that it is for. */
  members: WaterfallRow[] | undefined;
  /** Undefined: nothing is below it. */
  isClosed: boolean | undefined;
  isActive: boolean;
  window: Window;
  onGo: () => void;
  onToggle: () => void;
  onZoom: () => void;
}

function SpanRow(props: SpanRowProps) {
  const { recording } = useApp();
  const { at, rank, top, row, members, isClosed, isActive, window, onGo, onToggle, onZoom } = props;
  const { kind, depth, service, source, duration, self, waited, status, repeated } = row;
  const owner = recording.answer?.sources.find(({ number }) => number === source);
  const colour =
    kind === 'span'
      ? recording.serviceColours.of(owner === undefined ? (service ?? '') : serviceOf(owner))
      : cssColour(kind === 'collection' ? 'collection' : 'stall');
  return (
    <div
      id={`span-${at}`}
      role="row"
      class={`span-row${isActive ? ' active' : ''}${kind === 'span' ? '' : ' pause-row'}`}
      style={{ top: `${top}px` }}
      aria-rowindex={rank + 2}
      aria-level={depth + 1}
      aria-selected={isActive}
      {...(isClosed === undefined ? {} : { 'aria-expanded': !isClosed })}
      onClick={onGo}
      onDblClick={onZoom}
    >
      <div
        role="gridcell"
        class="of-name"
        style={{ paddingLeft: `${Math.min(depth, MOST_INDENTED) * INDENT}px` }}
        title={titleOf(row)}
      >
        <span
          class={`fold${isClosed === undefined ? '' : isClosed ? ' closed' : ' open'}`}
          aria-hidden="true"
          onClick={(event) => {
            if (isClosed === undefined) return;
            event.stopPropagation();
            onToggle();
          }}
        />
        {repeated > 1 && <b>{countText(repeated)} × </b>}
        <span class={status === 'error' ? 'bad' : ''}>{nameWithTarget(row)}</span>
        <span class="quiet">{remarksOn(row)}</span>
      </div>
      <div role="gridcell" class="of-service">
        {service ?? ''}
        {owner?.host !== undefined && isOnSeveralHosts(recording.answer?.sources) && (
          <span class="quiet"> on {owner.host}</span>
        )}
      </div>
      <div role="gridcell" class="number">
        {durationText(duration)}
      </div>
      <div role="gridcell" class="number of-self">
        {self > 0 && durationText(self)}
      </div>
      <div role="gridcell" class="number of-waited">
        {waited > 0 && durationText(waited)}
      </div>
      <div role="gridcell" class="bars">
        {stretchesOf(members ?? [row], window).map((each) => (
          <Bar
            key={each.from}
            {...each}
            window={window}
            colour={colour}
            kind={[
              'stretch',
              each.waited > 0 ? 'critical' : '',
              each.status === 'error' ? 'failed' : '',
              each.unfinished ? 'open' : '',
              kind === 'span' ? '' : 'pause',
            ].join(' ')}
          />
        ))}
        {pausesOf(members ?? [row], window).map(({ what, from, to, time }) => (
          <Bar
            key={`${what} ${from}`}
            from={from}
            to={to}
            window={window}
            colour={cssColour(what)}
            kind="stretch pause"
            title={`${what === 'stall' ? 'loop blocked' : 'garbage collection'} ${durationText(time)}`}
          />
        ))}
      </div>
    </div>
  );
}

function isOnSeveralHosts(sources: readonly { host?: string | undefined }[] = []): boolean {
  return sources.some(({ host }) => host !== sources[0]!.host);
}

/** `40 × SELECT products, 812 ms together` */
function titleOf(row: WaterfallRow): string {
  const { repeated, duration } = row;
  if (repeated === 1) return nameWithTarget(row);
  return `${countText(repeated)} × ${nameWithTarget(row)}, ${durationText(duration)} together`;
}

/** What else there is to say of a row. */
function remarksOn({ status, unfinished, missingParent, heldBy, repeated }: WaterfallRow): string {
  const remarks = [
    ...(heldBy === null
      ? []
      : [`${repeated > 1 ? 'the longest ' : ''}held by ${heldBy.name ?? NOT_RECORDED}`]),
    ...(status === 'error' ? ['failed'] : []),
    ...(unfinished ? ['unfinished'] : []),
    ...(missingParent ? ['parent missing'] : []),
  ];
  return remarks.length === 0 ? '' : ` ${remarks.join(', ')}`;
}

interface BarProps {
  from: number;
  to: number;
  window: Window;
  colour: string;
  kind: string;
  title?: string;
}

/** A stretch of time, as far as it is in the window. */
function Bar({ from, to, window, colour, kind, title }: BarProps) {
  const begin = Math.max(0, (from - window.from) / window.length);
  const end = Math.min(1, (to - window.from) / window.length);
  if (begin > 1 || end < 0) return null;
  return (
    <div
      class={kind}
      title={title}
      style={{
        left: `min(${(begin * 100).toFixed(3)}%, 100% - 2px)`,
        width: `max(2px, ${(Math.max(0, end - begin) * 100).toFixed(3)}%)`,
        backgroundColor: colour,
      }}
    />
  );
}
