import { useEffect, useRef } from 'preact/hooks';
import { FIND_TEXT, searchFor } from '../../data/choice.js';
import { type Found, suggestedTerms } from '../../data/search.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText } from '../../../look/report/measures/units.js';
import type { SearchTermsAnswer } from '../../../look/wire/panel-answers.js';
import { Link } from '../links.js';
import type { Panel } from '../panel.js';
import { useAnswer } from '../use-answer.js';

/** Search: matches are lit on the time line, and the other panels are about them. */
export const findPanel: Panel = {
  id: 'find',
  title: 'Find',
  question: 'Which spans match?',
  key: '/',
  Content: Find,
};

const EXAMPLES = [
  ['GET /orders', 'a part of the name'],
  ['status=error', 'or unset, ok'],
  ['service=shop', 'the service that recorded it'],
  ['kind=server', 'or internal, client, producer, consumer'],
  ['duration>=10ms', 'or <='],
  ['http.route="/a b"', 'any attribute, quoted if the value contains a space'],
  ['unfinished', 'open when its process ended'],
  ['missing-parent', 'its parent is not in this recording'],
  ['0af7651916cd43dd8448eb211c80319c', 'the id of a trace'],
] as const;

function Find() {
  const app = useApp();
  const field = useRef<HTMLInputElement>(null);
  const text = useStore(app.view, ({ parameters }) => parameters[FIND_TEXT] ?? '');
  const found = useStore(app.search.found, (value) => value);
  const selected = useStore(app.view, ({ row }) => row);
  const rank = found.rows.indexOf(selected ?? -1);
  const isCurrent = found.text === text.trim();

  const { answer } = useAnswer('', (signal) =>
    app.server.json<SearchTermsAnswer>('/data/search-terms', {}, signal),
  );

  useEffect(() => {
    field.current?.focus();
  }, []);
  useEffect(() => {
    // What was said of another search would contradict this one.
    app.announce(
      isCurrent && found.state === 'done' ? `${countText(found.count)} spans match` : '',
    );
  }, [app, found, isCurrent]);

  const search = (words: string): void => {
    searchFor(app.view, words);
  };
  /** A step that was asked for before the search for the text has found anything. */
  const owed = useRef(0);
  const step = (by: number): void => {
    // What holds now: a key can come before the text before it is drawn.
    const { rows, starts, state, text: searched } = app.search.found.value;
    const { parameters, row } = app.view.value;
    const isOfText = searched === (parameters[FIND_TEXT] ?? '').trim();
    const { length } = rows;
    owed.current = !isOfText || (length === 0 && state === 'searching') ? by : 0;
    if (!isOfText || length === 0) return;
    const at = rows.indexOf(row ?? -1);
    const next = at === -1 ? (by > 0 ? 0 : length - 1) : (at + by + length) % length;
    void app.showRow(rows[next]!, starts[next]);
  };
  useEffect(() => {
    if (owed.current !== 0) step(owed.current);
  });
  return (
    <>
      <form
        class="find-line"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          step(1);
        }}
      >
        <label for="find-text">Spans that match</label>
        <input
          id="find-text"
          ref={field}
          type="search"
          spellcheck={false}
          autocomplete="off"
          list="find-terms"
          value={text}
          onInput={(event) => {
            search(event.currentTarget.value);
          }}
        />
        <datalist id="find-terms">
          {suggestedTerms(text, answer?.terms ?? []).map((term) => (
            <option key={term} value={term} />
          ))}
        </datalist>
        <button type="submit" disabled={text.trim() === ''}>
          Next
        </button>
        <button
          type="button"
          disabled={found.rows.length === 0}
          onClick={() => {
            step(-1);
          }}
        >
          Previous
        </button>
      </form>
      <p role={found.state === 'failed' ? 'alert' : undefined}>
        {isCurrent ? wordsOf(found, rank) : 'Searching …'}
      </p>
      <table>
        <caption class="spoken">What one can search by</caption>
        <tbody>
          {EXAMPLES.map(([example, meaning]) => (
            <tr key={example}>
              <th scope="row">
                <Link
                  go={() => {
                    search(example);
                    field.current?.focus();
                  }}
                >
                  <code>{example}</code>
                </Link>
              </th>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function wordsOf({ state, words, count, rows, searched }: Found, rank: number): string {
  if (state === 'none') return 'All terms must hold. Matches are lit on the time line.';
  if (state === 'failed') return words;
  const which = rank === -1 ? '' : `, this is number ${countText(rank + 1)}`;
  const kept = rows.length < count ? `, Next steps through ${countText(rows.length)}` : '';
  if (count === 0 && state === 'done') return 'No span matches.';
  if (state === 'searching') {
    const share = `${Math.floor(100 * searched)} % searched`;
    return count === 0 ? `Searching … ${share}` : `${countText(count)} so far, ${share}${which}.`;
  }
  const verb = count === 1 ? 'matches' : 'match';
  return `${countText(count)} ${verb}${which}${kept}.`;
}
