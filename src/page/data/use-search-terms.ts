import { useState } from 'preact/hooks';
import type { SearchTermsAnswer } from '../../look/wire/view-answers.js';
import { useApp } from '../state/app.js';
import { useAnswer } from './use-answer.js';

const NONE: SearchTermsAnswer = { terms: [], attributes: [] };

/**
 * What may be searched for and grouped by, from the first `onFocus` of the field on: to find it takes the server as long
 * as a part of the report, for which the page waits.
 */
export function useSearchTerms(): SearchTermsAnswer & { onFocus: () => void } {
  const { server } = useApp();
  const [isUsed, use] = useState(false);
  const { answer = NONE } = useAnswer<SearchTermsAnswer>(String(isUsed), async (signal) =>
    isUsed ? server.json('/data/search-terms', {}, signal) : NONE,
  );
  return {
    ...answer,
    onFocus: () => {
      use(true);
    },
  };
}
