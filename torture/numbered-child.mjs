// Writes numbered records of one format from one thread, until it is killed.
//
//   node torture/numbered-child.mjs DIRECTORY FORMAT

import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { formats } from './formats/all.mjs';

const [, , directory, name] = process.argv;
const emit = formats
  .flat()
  .find((format) => format.name === name)
  .open(directory, 0, { ringBytes: 65_536 });
for (let n = 0; ;) {
  for (let turn = 0; turn < 2000; turn++) emit(n++);
  // Acknowledged: these are in the ring or in the file.
  writeSync(1, `${n}\n`);
  await sleep(1);
}
