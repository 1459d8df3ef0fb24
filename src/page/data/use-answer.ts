import { useEffect, useState } from 'preact/hooks';
import { NoServerError } from './server.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';

/** State of a question: its answer, the last one while the next is on its way, or the error. */
interface Asked<T> {
  answer: T | undefined;
  /** Why the last question has none, in words; empty: nothing failed. */
  words: string;
  pending: boolean;
}

/** Questions that change faster than this wait, in ms. */
const PAUSE = 80;

/**
 * Asks again whenever `key` changes, or the recording.
 *
 * @param ask gets a signal that fires when the answer is no longer wanted.
 */
export function useAnswer<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const { recording } = useApp();
  const revision = useStore(recording.store, ({ answer }) =>
    answer === undefined ? undefined : `${answer.generation} ${answer.revision}`,
  );
  const [asked, show] = useState<Asked<T>>({ answer: undefined, words: '', pending: true });
  useEffect(() => {
    if (revision === undefined) return undefined;
    const leaving = new AbortController();
    show(({ answer }) => ({ answer, words: '', pending: true }));
    const timer = window.setTimeout(() => {
      ask(leaving.signal)
        .then((answer) => {
          if (!leaving.signal.aborted) show({ answer, words: '', pending: false });
        })
        .catch((error: unknown) => {
          if (leaving.signal.aborted) return;
          if (error instanceof NoServerError) {
            show(({ answer }) => ({ answer, words: '', pending: false }));
            return;
          }
          const words = error instanceof Error ? error.message : String(error);
          show(({ answer }) => ({ answer, words, pending: false }));
        });
    }, PAUSE);
    return () => {
      window.clearTimeout(timer);
      leaving.abort();
    };
    // `ask` is written anew by its callers; `key` says what it asks.
  }, [key, revision]);
  return asked;
}
