// The database servers of this machine, on one core as long as this process runs: what they do is no time of a service
// on another core.

import { spawnSync } from 'node:child_process';

/** The programs of PostgreSQL, MariaDB, MySQL and Redis. */
const SERVERS = 'postgres|mariadbd|mysqld|redis-server';

/**
 * @param {string} command
 * @param {string[]} args
 */
function outputOf(command, args) {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout : '';
}

/**
 * Moves the servers to a core, and back when this process ends. Connections that are made later run there too.
 *
 * @param {string} core
 * @returns {boolean} whether all that were found have moved: those of another user stay, unless this one is root.
 */
export function moveDatabaseServers(core) {
  const found = outputOf('pgrep', ['-x', SERVERS]).split('\n').filter(Boolean);
  const masks = found.map((pid) => ({
    pid,
    mask: outputOf('taskset', ['-p', pid]).split(' ').at(-1)?.trim() ?? '',
  }));
  const moved = masks.filter(({ pid }) => outputOf('taskset', ['-acp', core, pid]) !== '');
  process.once('exit', () => {
    for (const { pid, mask } of moved) outputOf('taskset', ['-ap', mask, pid]);
  });
  return found.length > 0 && moved.length === found.length;
}
