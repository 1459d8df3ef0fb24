/** Ranks of this thread that are closed when it ends, so that their files are complete. */
const openRanks = new Set<{ close(): void }>();

function closeAll(): void {
  for (const rank of openRanks) {
    try {
      rank.close();
    } catch {
      // The thread is ending; recovery adds what is missing.
    }
  }
}

export function closeAtExit(rank: { close(): void }): void {
  openRanks.add(rank);
  if (openRanks.size === 1) process.on('exit', closeAll);
}

/** For a rank that has been closed. */
export function forgetAtExit(rank: { close(): void }): void {
  openRanks.delete(rank);
  if (openRanks.size === 0) process.off('exit', closeAll);
}
