// Writes a Heph trace by hand: a job of three steps. Then look at it:
//
//   node examples/heph.mjs
//   npx tracewright dump traces/example.heph

import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { openTrace } from 'tracewright/heph';

mkdirSync('traces', { recursive: true });
const trace = openTrace('traces/example.heph', { exists: 'replace' });
const stream = trace.stream();
const reading = stream.span('read', [
  ['file', 'string'],
  ['bytes', 'u64'],
]);

const job = stream.startTrace();
for (const file of ['package.json', 'README.md', 'CHANGELOG.md']) {
  const timing = stream.startTrace();
  const text = await readFile(file, 'utf8').catch(() => '');
  reading.finish(timing, file, text.length);
}
stream.finishTrace(job, 'job', { files: 3, tags: ['example', 'small'] });

await trace.close();
console.log('npx tracewright dump traces/example.heph');
