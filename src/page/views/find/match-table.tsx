import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { STATUS_MASK, STATUS_SHIFT, UNFINISHED_BIT } from '../../../look/index/look-index.js';
import { choiceOf } from '../../data/choice.js';
import { fileName, tickText, utcText } from '../../time-line/axis-text.js';
import { type App, useApp } from '../../state/app.js';
import { setParameters } from '../../shell/address.js';
import { useParameter } from '../../state/parameter.js';
import { useStore } from '../../state/store.js';
import { textScale } from '../../theme/theme.js';
import { countText, durationText } from '../../../look/report/measures/units.js';
import { ChoiceLine } from '../../shell/choice-line.js';
import { Link } from '../../shell/links.js';
import { type MatchPage, TablePages } from './match-pages.js';

/** Height of a row in pixels, as all heights here: where texts have their usual size. */
const ROW_HEIGHT = 24;
/** Browsers draw no element that is higher than some 16 million pixels, so a long table is scaled. */
const MOST_HEIGHT = 8_000_000;

/** Height of what is scrolled, in pixels. */
function scrollHeight(total: number): number {
  return Math.min(MOST_HEIGHT, total * ROW_HEIGHT);
}

/** The first row that is shown, a fraction while it is scrolled out in part. */
function firstRow(scrollTop: number, viewHeight: number, total: number): number {
  const most = scrollHeight(total) - viewHeight;
  if (most <= 0) return 0;
  return (Math.min(scrollTop, most) / most) * (total - viewHeight / ROW_HEIGHT);
}

/** Where to scroll so that a row is shown first. */
function scrollTopOf(row: number, viewHeight: number, total: number): number {
  const last = total - viewHeight / ROW_HEIGHT;
  if (last <= 0) return 0;
  return (Math.max(0, Math.min(row, last)) / last) * (scrollHeight(total) - viewHeight);
}

/** Columns by which one can sort, and the others. */
const COLUMNS = [
  ['start', 'Start'],
  ['duration', 'Duration'],
  ['name', 'Name'],
  ['service', 'Service'],
  ['status', 'Status'],
  [undefined, 'Request'],
  [undefined, 'Trace'],
] as const;
/** Starts that differ by so many ns have different texts. */
const START_STEP = 1e3;
/** The parameter of the view: whether states of threads are in the table. */
const STATES = 'table.states';
const STATUS_WORDS = ['', 'ok', 'error'];
const ROWS_A_KEY: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

/** The spans that match, or all, sorted by a column. */
export function MatchTable() {
  const app = useApp();
  const { view, server, recording } = app;
  const sort = useParameter('table.sort') || 'duration';
  const descending = useParameter('table.order') !== 'ascending';
  const choice = useStore(view, (state) => JSON.stringify(choiceOf(state)));
  const states = useParameter(STATES) === 'yes';
  const revision = useStore(recording.store, ({ answer }) => answer?.revision);
  const [, redraw] = useState({});
  const [line, moveTo] = useState(0);
  const scrolled = useRef<HTMLDivElement>(null);
  const pages = useMemo(
    () =>
      new TablePages(server, recording, {
        choice: JSON.parse(choice) as ReturnType<typeof choiceOf>,
        sort,
        descending,
        states,
      }),
    [server, recording, choice, sort, descending, states, revision],
  );
  useEffect(() => {
    pages.onChange = () => {
      redraw({});
    };
    pages.want(0, 20);
    moveTo(0);
    return () => {
      pages.close();
    };
  }, [pages]);

  const order = (column: string): void => {
    const turned = column === sort ? !descending : column === 'duration';
    setParameters(view, {
      'table.sort': column,
      'table.order': turned ? 'descending' : 'ascending',
    });
    scrolled.current?.scrollTo(0, 0);
  };

  const total = pages.total ?? 0;
  // The head covers one row.
  const scale = textScale();
  const height = (scrolled.current?.clientHeight ?? 240) / scale - ROW_HEIGHT;
  const first = Math.floor(firstRow((scrolled.current?.scrollTop ?? 0) / scale, height, total));
  const count = Math.ceil(height / ROW_HEIGHT) + 1;
  const shown = Array.from({ length: Math.min(count, total - first) }, (_, at) => first + at);

  const onKey = (event: KeyboardEvent): void => {
    const by = ROWS_A_KEY[event.key];
    if (event.key === 'Enter') {
      const found = pages.at(line);
      if (found !== undefined) openRow(app, found.page, found.at);
    } else if (by === undefined || total === 0) return;
    else {
      const next = Math.max(0, Math.min(total - 1, line + by));
      moveTo(next);
      const box = scrolled.current!;
      if (next < first || next >= first + count - 2) {
        box.scrollTop = scale * scrollTopOf(by > 0 ? next - count + 3 : next, height, total);
      }
      pages.want(Math.max(0, next - count), next + count);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="match-table">
      <ChoiceLine
        what={
          pages.total === undefined
            ? 'Spans'
            : `${countText(total)} ${total === 1 ? 'span' : 'spans'}`
        }
      />
      <StatesLine states={states} />
      {pages.words !== '' && <p role="alert">{pages.words}</p>}
      <div
        role="grid"
        aria-label="Spans"
        aria-rowcount={total + 1}
        aria-activedescendant={total > 0 ? `table-row-${line}` : undefined}
        class="grid"
        tabIndex={0}
        ref={scrolled}
        onKeyDown={onKey}
        onScroll={() => {
          const at = Math.floor(firstRow(scrolled.current!.scrollTop / scale, height, total));
          pages.want(at, at + count);
          redraw({});
        }}
      >
        <div role="rowgroup" class="grid-head">
          <div role="row" class="grid-row">
            {COLUMNS.map(([column, title]) =>
              column === undefined ? (
                <div key={title} role="columnheader">
                  {title}
                </div>
              ) : (
                <div
                  key={title}
                  role="columnheader"
                  aria-sort={column !== sort ? 'none' : descending ? 'descending' : 'ascending'}
                >
                  <Link
                    go={() => {
                      order(column);
                    }}
                  >
                    {title}
                    {column === sort ? (descending ? ' ↓' : ' ↑') : ''}
                  </Link>
                </div>
              ),
            )}
          </div>
        </div>
        <div
          role="rowgroup"
          class="grid-body"
          style={{ height: `${scale * scrollHeight(total)}px` }}
        >
          <div
            role="presentation"
            style={{ transform: `translateY(${scrolled.current?.scrollTop ?? 0}px)` }}
          >
            {shown.map((each) => (
              <Row
                key={each}
                line={each}
                pages={pages}
                active={each === line}
                onChoose={() => {
                  moveTo(each);
                }}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** Says whether states of threads are in the table, and changes that. */
function StatesLine({ states }: { states: boolean }) {
  const { view, recording } = useApp();
  const sources = useStore(recording.store, ({ answer }) => answer?.sources) ?? [];
  const ovni = sources.filter(({ content }) => content === 'states of threads').length;
  if (ovni === 0 || ovni === sources.length) return null;
  return (
    <p class="choice-line">
      {states
        ? 'With the states and marks of threads.'
        : 'Without the states and marks of threads.'}{' '}
      <button
        type="button"
        onClick={() => {
          setParameters(view, { [STATES]: states ? '' : 'yes' });
        }}
      >
        {states ? 'Leave them out' : 'Include them'}
      </button>
    </p>
  );
}

interface RowProps {
  line: number;
  pages: TablePages;
  active: boolean;
  onChoose: () => void;
}

function Row({ line, pages, active, onChoose }: RowProps) {
  const app = useApp();
  const selected = useStore(app.view, ({ row }) => row);
  useStore(app.rowNames.store, ({ answers }) => answers);
  const found = pages.at(line);
  const common = {
    role: 'row',
    id: `table-row-${line}`,
    'aria-rowindex': line + 2,
    class: active ? 'grid-row active' : 'grid-row',
  } as const;
  if (found === undefined) {
    return (
      <div {...common}>
        <div role="gridcell">…</div>
      </div>
    );
  }
  const { page, at } = found;
  const flags = page.flags[at]!;
  const recording = app.recording.answer;
  const source = recording?.sources[page.source[at]!];
  const name = app.rowNames.nameOf(page.name[at]!, page.row[at]!, page.start[at]!);
  const request = page.requests[at] ?? '';
  const trace = page.traces[at];
  const status = STATUS_WORDS[(flags >> STATUS_SHIFT) & STATUS_MASK] ?? '';
  return (
    <div
      {...common}
      aria-selected={selected === page.row[at]}
      onClick={() => {
        onChoose();
        openRow(app, page, at);
      }}
    >
      <div role="gridcell" title={tickText(page.start[at]!, START_STEP)}>
        {recording &&
          (utcText(recording, page.start[at]!)?.slice(11, -4) ??
            tickText(page.start[at]!, START_STEP))}
      </div>
      <div role="gridcell" class="number">
        {durationText(page.duration[at]!)}
      </div>
      <div role="gridcell" title={name}>
        {name}
      </div>
      <div role="gridcell">
        {source === undefined ? '' : (source.service ?? fileName(source.path))}
      </div>
      <div role="gridcell" class={status === 'error' ? 'bad' : ''}>
        {(flags & UNFINISHED_BIT) === 0 ? status : `${status} unfinished`.trim()}
      </div>
      <div role="gridcell" title={request}>
        {request}
      </div>
      <div role="gridcell">
        <code>{trace?.slice(0, 8)}</code>
      </div>
    </div>
  );
}

/** Shows the trace of a row; of one without, where it is on the time line. */
function openRow(app: App, page: MatchPage, at: number): void {
  const [row, start] = [page.row[at]!, page.start[at]!];
  const id = page.traces[at];
  app.view.set({ row, key: String(start) });
  if (id === undefined || id === null) void app.showRow(row, start);
  else app.navigate('trace', { id, row, key: String(start) });
}
