import { useEffect, useState } from 'preact/hooks';

/** Of a table the highest `spare` of its columns for which a page has room, by its width in pixels. */
const ROOMS = [
  [700, 2],
  [1000, 6],
] as const;

function queryOf(width: number): MediaQueryList {
  return window.matchMedia(`(max-width: ${width}px)`);
}

function mostSpare(): number {
  return ROOMS.find(([width]) => queryOf(width).matches)?.[1] ?? Infinity;
}

/** The highest `spare` that the columns of a table may have now. */
export function useMostSpare(): number {
  const [most, change] = useState(mostSpare);
  useEffect(() => {
    const update = (): void => {
      change(mostSpare());
    };
    const queries = ROOMS.map(([width]) => queryOf(width));
    for (const query of queries) query.addEventListener('change', update);
    return () => {
      for (const query of queries) query.removeEventListener('change', update);
    };
  }, []);
  return most;
}
