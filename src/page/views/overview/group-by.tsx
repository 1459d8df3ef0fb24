import { useEffect, useState } from 'preact/hooks';
import { useApp } from '../../state/app.js';
import { setParameters } from '../../shell/address.js';
import { useParameter } from '../../state/parameter.js';
import { useSearchTerms } from '../../data/use-search-terms.js';

/** The parameter of the view that says by what tables group; empty: as they do without it. */
const GROUP_BY = 'group.by';

export function useGroupBy(): string {
  return useParameter(GROUP_BY);
}

interface GroupByProps {
  kinds: readonly string[];
  /** Why nothing could be grouped so; empty: it could. */
  words: string;
}

/** Asks by what to group: attributes, with commas between several, or one of the kinds that a view has. */
export function GroupBy({ kinds, words }: GroupByProps) {
  const { view } = useApp();
  const by = useGroupBy();
  const [text, write] = useState(by);
  useEffect(() => {
    write(by);
  }, [by]);
  const { attributes, onFocus } = useSearchTerms();
  const groupBy = (wanted: string): void => {
    setParameters(view, { [GROUP_BY]: wanted.trim() });
  };
  const before = text.slice(0, text.lastIndexOf(',') + 1);
  return (
    <form
      class="find-line"
      onSubmit={(event) => {
        event.preventDefault();
        groupBy(text);
      }}
    >
      <label for="group-by">Group by</label>
      <input
        id="group-by"
        spellcheck={false}
        autocomplete="off"
        list="group-by-names"
        placeholder="name, or attributes with commas"
        aria-invalid={words !== ''}
        value={text}
        onFocus={onFocus}
        onInput={(event) => {
          write(event.currentTarget.value);
        }}
        onChange={(event) => {
          groupBy(event.currentTarget.value);
        }}
      />
      <datalist id="group-by-names">
        {(before === '' ? kinds : []).concat(attributes).map((name) => (
          <option key={name} value={before + name} />
        ))}
      </datalist>
      <button type="submit">Group</button>
      {by !== '' && (
        <button
          type="button"
          onClick={() => {
            groupBy('');
          }}
        >
          As before
        </button>
      )}
      {words !== '' && (
        <span role="alert" class="bad">
          {words}
        </span>
      )}
    </form>
  );
}
