import { expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';

// V8 remembers four kinds of objects at a piece of code. What the hook added of its own would make it slow for all.
it("Node's functions for sockets meet those of the program only", async () => {
  const program = new TracedProcess('kinds-of-sockets.mjs', {});
  const { code, stdout, stderr } = await program.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim()).toBe('Socket');
});
