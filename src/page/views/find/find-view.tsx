import { useEffect } from 'preact/hooks';
import { countText } from '../../../look/report/measures/units.js';
import { FIND_TEXT, searchFor } from '../../data/choice.js';
import type { Found } from '../../data/search.js';
import { Link } from '../../shell/links.js';
import { SEARCH_FIELD } from '../../shell/search-bar.js';
import { useApp } from '../../state/app.js';
import { useParameter } from '../../state/parameter.js';
import { useStore } from '../../state/store.js';
import { MatchTable } from './match-table.js';

const EXAMPLES = [
  ['GET /orders', 'a part of the name'],
  ['status=error', 'or unset, ok'],
  ['service=shop', 'the service that recorded it'],
  ['kind=server', 'or internal, client, producer, consumer'],
  ['duration>=10ms', 'or <='],
  ['http.route="/a b"', 'any attribute, quoted if the value contains a space'],
  ['cause=*no stock*', 'why it failed: service, type, frame and message'],
  ['unfinished', 'open when its process ended'],
  ['missing-parent', 'its parent is not in this recording'],
  [
    '0af7651916cd43dd8448eb211c80319c',
    'the id of a trace; Enter shows it, also of its first six digits',
  ],
] as const;

/** The spans that match the search, in a list. */
export function FindView() {
  const app = useApp();
  const text = useParameter(FIND_TEXT).trim();
  const found = useStore(app.search.found, (value) => value);
  const isCurrent = found.text === text;
  useEffect(() => {
    // What was said of another search would contradict this one.
    const isDone = isCurrent && found.state === 'done';
    app.announce(isDone ? `${countText(found.count)} spans match` : '');
  }, [app, found, isCurrent]);
  return (
    <div class="find">
      {text !== '' && !(isCurrent && found.state === 'done') && (
        <p role={found.state === 'failed' ? 'alert' : undefined}>
          {isCurrent ? wordsOf(found) : 'Searching …'}
        </p>
      )}
      {text === '' && <Examples />}
      {text !== '' && isCurrent && found.state === 'done' && found.count === 0 && (
        <Examples isOpen />
      )}
      {!(isCurrent && found.state === 'failed') && <MatchTable />}
    </div>
  );
}

function Examples({ isOpen = false }: { isOpen?: boolean }) {
  const app = useApp();
  return (
    <details class="examples" open={isOpen}>
      <summary>{isOpen && 'Nothing matches. '}What one can search by. All terms must hold.</summary>
      <table>
        <caption class="spoken">What one can search by</caption>
        <tbody>
          {EXAMPLES.map(([example, meaning]) => (
            <tr key={example}>
              <th scope="row">
                <Link
                  go={() => {
                    searchFor(app.view, example);
                    document.getElementById(SEARCH_FIELD)?.focus();
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
    </details>
  );
}

function wordsOf({ state, words, count, searched }: Found): string {
  if (state === 'failed') return words;
  const share = `${Math.floor(100 * searched)} % searched`;
  return count === 0 ? `Searching … ${share}` : `${countText(count)} so far, ${share}.`;
}
