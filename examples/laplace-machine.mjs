// The memory references of a program that really runs, as a reference trace of Laplace, and what the
// kernel under it does, as a kernel trace.
//
//   node examples/laplace-machine.mjs [DIRECTORY [FILE]...]
//
// The machine is an interpreter of RV32I, the instructions that every 32-bit RISC-V processor has, and
// executes laplace-program.bin, which a C compiler made of laplace-program.c. A WebAssembly module
// instrumented at its memory instructions would have been the other way. This one is smaller, has
// instruction fetches at real addresses, and traces the program as it is instead of one with calls
// put into it; its addresses of 32 bits are those that the format has room for.
//
// Two tasks take turns, each in an address space of its own, with a file of its own. Their system calls
// are carried out by this process: the files, inodes and devices in the kernel trace are real ones.

import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openKernelEvents, openReferences } from 'tracewright/laplace';

const CODE = 0x1_0000;
const ARGUMENT = 0x8_0000;
const HEAP = 0x10_0000;
const MEMORY_BYTES = 0x20_0000;
const PAGE = 4096;
/** Instructions that a task executes in a turn. */
const TURN = 10_000;
const CALLS = { openat: 56, close: 57, read: 63, write: 64, exit: 93, mmap: 222 };
const ENOENT = -2;
const ENOSYS = -38;

const here = fileURLToPath(import.meta.url);
const programFile = fileURLToPath(new URL('laplace-program.bin', import.meta.url));
const [directory = mkdtempSync(join(tmpdir(), 'laplace-')), ...given] = process.argv.slice(2);
const files =
  given.length > 0 ? given : [here, fileURLToPath(new URL('laplace-program.c', import.meta.url))];

const references = openReferences(join(directory, 'machine.references'));
const kernel = openKernelEvents(join(directory, 'machine.kernel.txt'));

/** The cycle counter that both traces share: one for each instruction. */
let cycle = 0;

/** The file of a descriptor as the kernel trace names files. */
function identity(fd) {
  const { ino, dev } = fstatSync(fd, { bigint: true });
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xffff_f000n);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffff_ff00n);
  return [ino, Number(major), Number(minor)];
}

class Task {
  ended = false;
  /** The file that is the program's standard output. */
  output;
  #outputFd;
  #written = 0;
  #number;
  #space;
  #memory = new DataView(new ArrayBuffer(MEMORY_BYTES));
  #bytes = new Uint8Array(this.#memory.buffer);
  #registers = new Int32Array(32);
  #pc = CODE;
  #heap = HEAP;
  /** Offsets of open files by descriptor. */
  #files = new Map();

  constructor(number, argument) {
    this.output = join(directory, `machine.${number}.out`);
    this.#outputFd = openSync(this.output, 'w');
    this.#number = number;
    this.#space = 0x100 + number;
    const program = readFileSync(programFile);
    this.#bytes.set(program, CODE);
    this.#bytes.set(Buffer.from(`${argument}\0`), ARGUMENT);
    this.#registers[2] = MEMORY_BYTES; // sp
    this.#registers[10] = ARGUMENT; // a0
    const fd = openSync(programFile, 'r');
    const file = identity(fd);
    closeSync(fd);
    kernel.assignAddressSpace(cycle, number, this.#space);
    kernel.execute(cycle, number, ...file, programFile);
    kernel.mapFile(cycle, number, CODE, program.length, ...file, 0, programFile);
  }

  /** Runs until the turn is over or the program ends. */
  run() {
    kernel.schedule(cycle, this.#number);
    for (let i = 0; i < TURN && !this.ended; i++) this.#step();
  }

  /** Executes one instruction. */
  #step() {
    const x = this.#registers;
    const pc = this.#pc;
    references.fetch(cycle, 4, this.#space, pc);
    const word = this.#memory.getInt32(pc, true);
    const rd = (word >>> 7) & 31;
    const operation = (word >>> 12) & 7;
    const a = x[(word >>> 15) & 31];
    const b = x[(word >>> 20) & 31];
    let next = pc + 4;
    let result;
    switch (word & 0x7f) {
      case 0x37: // lui
        result = word & ~0xfff;
        break;
      case 0x17: // auipc
        result = pc + (word & ~0xfff);
        break;
      case 0x6f: // jal
        result = next;
        next = pc + jumpOffset(word);
        break;
      case 0x67: // jalr
        result = next;
        next = (a + (word >> 20)) & ~1;
        break;
      case 0x63:
        if (branches(operation, a, b)) next = pc + branchOffset(word);
        break;
      case 0x03:
        result = this.#load(operation, (a + (word >> 20)) >>> 0);
        break;
      case 0x23:
        this.#store(operation, (a + ((word >> 25) << 5) + rd) >>> 0, b);
        break;
      case 0x13: // with an immediate, of which bit 10 says how a shift to the right is done
        result = compute(operation, operation === 5 && (word & 0x4000_0000) !== 0, a, word >> 20);
        break;
      case 0x33:
        result = compute(operation, (word & 0x4000_0000) !== 0, a, b);
        break;
      case 0x0f: // fence: there is one processor
        break;
      case 0x73:
        x[10] = this.#systemCall(x[17], x[10], x[11], x[12]);
        break;
      default:
        throw new Error(`no instruction: ${(word >>> 0).toString(16)} at ${pc.toString(16)}`);
    }
    if (result !== undefined && rd !== 0) x[rd] = result;
    this.#pc = next >>> 0;
    cycle += 1;
  }

  #load(operation, address) {
    const length = 1 << (operation & 3);
    references.load(cycle, length, this.#space, address);
    const memory = this.#memory;
    if (length === 4) return memory.getInt32(address, true);
    const unsigned = operation > 3;
    if (length === 2)
      return unsigned ? memory.getUint16(address, true) : memory.getInt16(address, true);
    return unsigned ? memory.getUint8(address) : memory.getInt8(address);
  }

  #store(operation, address, value) {
    const length = 1 << operation;
    references.store(cycle, length, this.#space, address);
    if (length === 4) this.#memory.setInt32(address, value, true);
    else if (length === 2) this.#memory.setInt16(address, value, true);
    else this.#memory.setInt8(address, value);
  }

  /** Linux's calls by their numbers on RISC-V; negative results are errors. */
  #systemCall(number, a, b, c) {
    const task = this.#number;
    switch (number) {
      case CALLS.openat: {
        const path = this.#bytes.subarray(b, this.#bytes.indexOf(0, b));
        const name = Buffer.from(path).toString();
        try {
          const fd = openSync(name, 'r');
          this.#files.set(fd, 0);
          kernel.openFile(cycle, task, ...identity(fd), name);
          return fd;
        } catch {
          return ENOENT;
        }
      }
      case CALLS.read: {
        const offset = this.#files.get(a) ?? 0;
        const got = readSync(a, this.#bytes, b, c, offset);
        this.#files.set(a, offset + got);
        kernel.readFile(cycle, task, ...identity(a), offset, got);
        return got;
      }
      case CALLS.close:
        kernel.closeFile(cycle, task, ...identity(a));
        this.#files.delete(a);
        closeSync(a);
        return 0;
      case CALLS.write: {
        const put = writeSync(this.#outputFd, this.#bytes, b, c);
        kernel.writeFile(cycle, task, ...identity(this.#outputFd), this.#written, put);
        this.#written += put;
        return put;
      }
      case CALLS.mmap: {
        const length = Math.ceil(b / PAGE) * PAGE;
        const address = this.#heap;
        this.#heap += length;
        kernel.mapAnonymous(cycle, task, address, length);
        return address;
      }
      case CALLS.exit:
        this.ended = true;
        closeSync(this.#outputFd);
        kernel.exit(cycle, task);
        kernel.unmapAll(cycle, this.#space);
        return 0;
      default:
        return ENOSYS;
    }
  }
}

function jumpOffset(word) {
  const low = ((word >>> 20) & 0x7fe) | ((word >>> 9) & 0x800) | (word & 0xf_f000);
  return low | ((word >> 31) << 20);
}

function branchOffset(word) {
  const low = ((word >>> 7) & 0x1e) | ((word >>> 20) & 0x7e0) | ((word << 4) & 0x800);
  return low | ((word >> 31) << 12);
}

function branches(operation, a, b) {
  switch (operation) {
    case 0:
      return a === b;
    case 1:
      return a !== b;
    case 4:
      return a < b;
    case 5:
      return a >= b;
    case 6:
      return a >>> 0 < b >>> 0;
    default:
      return a >>> 0 >= b >>> 0;
  }
}

/** @param alternate subtraction in place of addition, and a shift that keeps the sign. */
function compute(operation, alternate, a, b) {
  switch (operation) {
    case 0:
      return alternate ? a - b : a + b;
    case 1:
      return a << (b & 31);
    case 2:
      return a < b ? 1 : 0;
    case 3:
      return a >>> 0 < b >>> 0 ? 1 : 0;
    case 4:
      return a ^ b;
    case 5:
      return alternate ? a >> (b & 31) : a >>> (b & 31);
    case 6:
      return a | b;
    default:
      return a & b;
  }
}

const tasks = files.map((file, i) => new Task(i + 1, file));
for (let left = tasks; left.length > 0; left = left.filter(({ ended }) => !ended)) {
  for (const task of left) task.run();
}
references.close();
kernel.close();

files.forEach((file, i) => {
  console.log(
    `${file}: the most frequent byte is ${JSON.stringify(readFileSync(tasks[i].output, 'latin1'))}`,
  );
});
console.log(`${cycle} instructions were executed. To look at the traces:

  npx tracewright dump ${join(directory, 'machine.references')} --kernel ${join(directory, 'machine.kernel.txt')} | less
  npx tracewright check ${directory}
  npx tracewright convert --to laplace-text ${join(directory, 'machine.references')} | less
  npx tracewright convert --to perfetto ${join(directory, 'machine.kernel.txt')} schedule.pftrace`);
