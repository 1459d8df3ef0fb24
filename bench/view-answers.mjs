// How long the server of `tracewright view` takes for the table of all spans and for a search, as the page
// asks it. Both functions run in the page.

/** The first rows, and those in the middle, which need the order of all. In ms. */
export async function timeTable({ sort, rows }) {
  const headers = { 'x-tracewright-token': sessionStorage.getItem('tracewright-token') };
  const ask = async (/** @type {number} */ first) => {
    const begin = performance.now();
    const fields = `sort=${sort}&descending=true&first=${first}&count=200&names=0`;
    const response = await fetch(`/data/table?${fields}`, { headers });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
    return performance.now() - begin;
  };
  return { first: await ask(0), sorted: await ask(Math.floor(rows / 2)) };
}

/** Until the first match of a search is there, or that there is none. In ms. */
export async function timeSearch(where) {
  const headers = { 'x-tracewright-token': sessionStorage.getItem('tracewright-token') };
  const leaving = new AbortController();
  const begin = performance.now();
  const path = `/data/find?where=${encodeURIComponent(where)}`;
  const response = await fetch(path, { headers, signal: leaving.signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value = '' } = await reader.read();
    text += value;
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    if (done || lines.some(({ count, done: isAll }) => count > 0 || isAll)) break;
  }
  const time = performance.now() - begin;
  leaving.abort();
  return time;
}
