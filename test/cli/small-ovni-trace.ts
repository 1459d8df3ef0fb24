import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One normal event (trace specification version 1, "Normal events"), little-endian. */
function event(mcv: string, clock: bigint, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(12);
  head[0] = payload.length === 0 ? 0 : payload.length - 1;
  head.write(mcv, 1, 'latin1');
  head.writeBigUInt64LE(clock, 4);
  return Buffer.concat([head, payload]);
}

/** Writes a version 1 trace of one thread that ran for 10 µs of CLOCK_MONOTONIC from `start`. */
export function writeOvniTrace(directory: string, start: bigint, pid = 4242): void {
  const folder = join(directory, 'loom.node0.1000', `proc.${pid}`);
  const execute = Buffer.alloc(16);
  execute.writeInt32LE(-1, 4);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'metadata.json'),
    JSON.stringify({ version: 1, app_id: 1, cpus: [{ index: 0, phyid: 0 }] }),
  );
  writeFileSync(
    join(folder, `thread.${pid}`),
    Buffer.concat([
      event('OHx', start, execute),
      event('OB.', start + 5000n),
      event('OHe', start + 10000n),
    ]),
  );
}
