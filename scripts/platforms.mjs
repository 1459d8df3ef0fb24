// The platforms for which the package ships a binary, in the names of node-gyp-build.

/**
 * `zigTarget` names the oldest C library (macOS: the oldest system) on which the binary loads. glibc
 * 2.28 is the floor of Node 20 itself.
 */
export const platforms = [
  linux('x64', 'x86_64', 'glibc', 'gnu.2.28'),
  linux('x64', 'x86_64', 'musl', 'musl'),
  linux('arm64', 'aarch64', 'glibc', 'gnu.2.28'),
  linux('arm64', 'aarch64', 'musl', 'musl'),
  macos('x64', 'x86_64'),
  macos('arm64', 'aarch64'),
];

function linux(arch, cpu, libc, abi) {
  return {
    name: `linux-${arch}.${libc}`,
    system: 'linux',
    zigTarget: `${cpu}-linux-${abi}`,
    file: `linux-${arch}/tracewright.${libc}.node`,
  };
}

function macos(arch, cpu) {
  return {
    name: `darwin-${arch}`,
    system: 'darwin',
    zigTarget: `${cpu}-macos.11.0`,
    file: `darwin-${arch}/tracewright.node`,
  };
}
