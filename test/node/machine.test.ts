import { cpus, hostname } from 'node:os';
import { expect, it } from 'vitest';
import { countOfList, cpuCount, hostName } from '../../src/node/machine.js';

it('says what node:os says', () => {
  expect(hostName()).toBe(hostname());
  expect(cpuCount()).toBe(cpus().length);
});

it.each([
  ['0', 1],
  ['0-3', 4],
  ['0-1,4,6-7', 5],
  ['', undefined],
  ['0-', undefined],
  ['3-1', undefined],
  ['all', undefined],
])('counts the CPUs of %j', (list, count) => {
  expect(countOfList(list)).toBe(count);
});
