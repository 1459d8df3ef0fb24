import { useEffect, useState } from 'preact/hooks';
import { textScale } from './theme.js';

function lookNow(): string {
  return `${document.documentElement.getAttribute('data-theme')} ${textScale()}`;
}

/** Differs when colours or the size of texts do: what is drawn on a canvas is drawn anew then. */
export function useLook(): string {
  const [look, show] = useState(lookNow);
  useEffect(() => {
    const update = (): void => {
      show(lookNow());
    };
    const changes = new MutationObserver(update);
    changes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    window.addEventListener('resize', update);
    update();
    return () => {
      changes.disconnect();
      window.removeEventListener('resize', update);
    };
  }, []);
  return look;
}
