import { useState } from 'preact/hooks';
import { parseFindText } from '../../look/condition/where.js';
import type { TraceAnswer } from '../../look/wire/view-answers.js';
import { FIND_TEXT, searchFor } from '../data/choice.js';
import { suggestedTerms } from '../data/search.js';
import { useSearchTerms } from '../data/use-search-terms.js';
import { useApp } from '../state/app.js';
import { useParameter } from '../state/parameter.js';
import { useStore } from '../state/store.js';
import type { ViewName } from './address.js';

/** Fewer digits may be a word. */
const TRACE_DIGITS = /^[\da-f]{6,32}$/;

function isCondition(text: string): boolean {
  try {
    parseFindText(text);
    return true;
  } catch {
    return false;
  }
}

/** Views that are about what one searches for. */
const SEARCHED: ReadonlySet<ViewName> = new Set(['find', 'time-line', 'compare']);

/** Id of its field. */
export const SEARCH_FIELD = 'find-text';

/** The search over all spans; Enter lists the matches. */
export function SearchBar() {
  const { server, view, navigate } = useApp();
  const query = useParameter(FIND_TEXT);
  const shown = useStore(view, (state) => state.view);
  const address = useStore(view, ({ view: name, id = '' }) => `${name}/${id}`);
  const isListed = shown === 'find';
  // Elsewhere it selects nothing: it would seem that the figures are those of the search.
  const text = SEARCHED.has(shown) ? query : '';
  // What is typed, until the address has another text, or is another one.
  const after = `${address} ${text}`;
  const [typed, write] = useState({ after, value: text });
  const draft = typed.after === after ? typed.value : text;
  const { terms, onFocus } = useSearchTerms();
  /** An id, or the beginning of one, leads to its trace; anything else, and that of several traces, to the matches. */
  const submit = async (): Promise<void> => {
    const id = draft.trim().toLowerCase();
    const trace = TRACE_DIGITS.test(id)
      ? await server.json<TraceAnswer>('/data/trace', { id }).catch(() => undefined)
      : undefined;
    if (trace === undefined) navigate('find', { parameters: { [FIND_TEXT]: draft } });
    else navigate('trace', { id: trace.traceId ?? id, row: undefined, key: undefined });
  };
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <input
        id={SEARCH_FIELD}
        type="search"
        aria-label="Find spans"
        aria-keyshortcuts="/"
        placeholder="Find spans: a name, status=error, duration>=100ms, a trace …"
        spellcheck={false}
        autocomplete="off"
        list="find-terms"
        value={draft}
        onFocus={onFocus}
        onInput={({ currentTarget: { value } }) => {
          // Where the matches are listed, the list follows what is a condition yet; Enter says why another text is none.
          const isSearched = value === '' || (isListed && isCondition(value));
          if (isSearched) searchFor(view, value);
          write({ after: isSearched ? `${address} ${value}` : after, value });
        }}
      />
      <datalist id="find-terms">
        {suggestedTerms(draft, terms).map((term) => (
          <option key={term} value={term} />
        ))}
      </datalist>
    </form>
  );
}
