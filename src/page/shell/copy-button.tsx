import { useApp } from '../state/app.js';

/** Copies a text, and says so. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const app = useApp();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      app.announce(`Copied ${what}`);
    } catch {
      app.announce('The browser refuses to copy');
    }
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      Copy
    </button>
  );
}
