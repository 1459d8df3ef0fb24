import type { ComponentChildren } from 'preact';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { FIND_TEXT, searchText } from '../../data/choice.js';
import type { Target } from '../../shell/address.js';
import { ViewLink } from '../../shell/view-link.js';

/** The list of spans that meet values of `--where`. */
export function matches(where: readonly string[]): Target {
  return { parameters: { [FIND_TEXT]: searchText(where) } };
}

/** A row of the report in its trace, or on the time line; without one its text. */
export function RowLink({
  found,
  view,
  children,
}: {
  found: ReportedRow | undefined;
  view: 'trace' | 'time-line';
  children: ComponentChildren;
}) {
  if (found === undefined) return <>{children}</>;
  const { row, start, duration } = found;
  const room = Math.max(duration, 1000);
  const window =
    view === 'trace' ? {} : { from: start - 2 * room, to: start + 3 * room, follow: false };
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
