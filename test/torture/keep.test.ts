import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Runs a command of torture/ shorter than `npm run` does it. */
function torture(name: string, ...args: string[]): string {
  const command = fileURLToPath(new URL(`../../torture/${name}.mjs`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

const onLinux = test.runIf(process.platform === 'linux');

onLinux('a kill loses no kept request, doubles none, and leaves the undecided ones', () => {
  expect(torture('keep', '--rounds', '5', '--seed', '1')).toMatch(
    /^5 killed processes: \d+ kept requests whole, \d+ undecided ones there/m,
  );
});

onLinux('of many requests slow and failed ones are whole, and the others are counted', () => {
  expect(torture('keep-requests', '--requests', '40000', '--seed', '1')).toMatch(
    /requests in \d+ s/,
  );
});

onLinux('in an outage the limit holds, and something of each kind is there', () => {
  expect(torture('keep-outage', '--seconds', '5', '--seed', '1')).toMatch(
    /failed requests of \d+ kinds/,
  );
});

onLinux('a long request among many is whole', () => {
  expect(torture('keep-long', '--seconds', '4', '--rate', '10000')).toMatch(/^failed: /m);
});
