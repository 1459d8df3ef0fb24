// How many bytes an event of child.mjs takes in a format's file.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RecordingProcess } from './process.mjs';

const COUNTS = [100, 1100];

async function bytesWith(format, place, count) {
  mkdirSync(place, { recursive: true });
  const recording = new RecordingProcess({ format, place, options: {} });
  await recording.answer();
  await recording.emit(count);
  await recording.end();
  const sizes = readdirSync(place, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(place, name)))
    .filter((status) => status.isFile())
    .map(({ size }) => size);
  rmSync(place, { recursive: true });
  return Math.max(...sizes);
}

export async function sizeOfEvent(format, place) {
  const [few, many] = COUNTS;
  const more = (await bytesWith(format, place, many)) - (await bytesWith(format, place, few));
  return Math.round(more / (many - few));
}
