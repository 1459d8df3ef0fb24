import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import type { ReportedRow } from '../../look/wire/view-answers.js';
import { FIND_TEXT, searchText } from '../data/choice.js';
import { AppContext } from '../state/app.js';
import type { Target, ViewName } from './address.js';

interface ViewLinkProps {
  view: ViewName;
  target?: Target;
  title?: string;
  isBad?: boolean;
  children: ComponentChildren;
}

/** A link to a view; only its text in a report that is a file. */
export function ViewLink({ view, target = {}, title, isBad = false, children }: ViewLinkProps) {
  const app = useContext(AppContext);
  if (app === undefined) return <span class={isBad ? 'bad' : ''}>{children}</span>;
  return (
    <a
      class={isBad ? 'bad' : ''}
      href={app.href(view, target)}
      title={title}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        app.navigate(view, target);
      }}
    >
      {children}
    </a>
  );
}

interface MatchesLinkProps {
  /** Values of `--where`. */
  where: readonly string[];
  /** A search whose matches these are among. */
  within?: string | undefined;
  /** Of all recordings, whatever range is chosen. */
  isOfAll?: boolean;
  title?: string;
  isBad?: boolean;
  children: ComponentChildren;
}

/** Lists the spans that meet `where`. */
export function MatchesLink({ where, within = '', isOfAll = false, ...further }: MatchesLinkProps) {
  const target = {
    ...(isOfAll && { rangeFrom: undefined, rangeTo: undefined }),
    parameters: { [FIND_TEXT]: `${within} ${searchText(where)}`.trim() },
  };
  return <ViewLink view="find" target={target} {...further} />;
}

/** Lists the spans that failed. */
export function ErrorsLink(props: Pick<MatchesLinkProps, 'where' | 'within' | 'children'>) {
  return <MatchesLink {...props} title="Show the spans that failed" isBad />;
}

interface RouteLinkProps {
  name: string;
  service: string | null;
  /** Values of `--where` that select its requests. */
  where: readonly string[];
  children: ComponentChildren;
}

/** Shows why a route is slow. */
export function RouteLink({ name, service, where, children }: RouteLinkProps) {
  const parameters = { name, service: service ?? '', where: searchText(where) };
  return (
    <ViewLink view="route" target={{ parameters }} title="Show this route">
      {children}
    </ViewLink>
  );
}

interface RowLinkProps {
  found: ReportedRow | undefined;
  view: 'trace' | 'time-line';
  children: ComponentChildren;
}

/** A row of the report in its trace, or on the time line; without one its text. */
export function RowLink({ found, view, children }: RowLinkProps) {
  if (found === undefined) return <>{children}</>;
  const { row, start, duration } = found;
  const room = Math.max(duration, 1000);
  const window =
    view === 'trace'
      ? {}
      : { from: Math.max(0, start - 2 * room), to: start + 3 * room, follow: false };
  return (
    <ViewLink
      view={view}
      target={{ row, key: String(start), ...window }}
      title={view === 'trace' ? 'Show its trace' : 'Show it on the time line'}
    >
      {children}
    </ViewLink>
  );
}

/** A trace by its id. */
export function TraceLink({ id, text = id }: { id: string; text?: string }) {
  return (
    <ViewLink view="trace" target={{ id, row: undefined, key: undefined }} title="Show its trace">
      {text}
    </ViewLink>
  );
}
