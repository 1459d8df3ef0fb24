import { fstatSync, statSync } from 'node:fs';
import { counted } from '../../core/readable-text.js';
import { TraceFormatError, TracewrightError } from '../../core/errors.js';
import { hasCode } from '../../core/files/system-error.js';
import { referencesToText, textToReferences } from '../../laplace/read/convert-references.js';
import { laplaceFormats } from '../../laplace/read/formats.js';
import { EXIT_FAULTY, printMessage, UsageError } from '../command.js';
import { FaultReport } from '../output/fault-report.js';
import { ProgressLine } from '../output/progress-line.js';
import { ClosedPipe } from '../output/text-output.js';
import { RingReader } from '../ring-options.js';
import type { ConversionRequest } from './export.js';

const STANDARD = '-';

/** Converts one form of a reference trace to the other, between files and standard streams. */
async function convertWith(
  convert: typeof referencesToText,
  { path, out, force, endian, rings: reading }: ConversionRequest,
): Promise<number> {
  // Node takes a directory on standard input for an empty file.
  const input =
    path === STANDARD ? fstatSync(process.stdin.fd) : statSync(path, { throwIfNoEntry: false });
  if (input?.isDirectory() === true) {
    const name = path === STANDARD ? 'standard input' : path;
    throw new UsageError(`${name} is a directory; a reference trace is a file`);
  }
  const toFile = out !== undefined && out !== STANDARD;
  const faults = new FaultReport('convert');
  const rings = new RingReader('convert', reading, faults.add);
  if (path !== STANDARD && input?.isFile() === true)
    rings.show({ format: laplaceFormats(endian)[0]!, path });
  const progress = new ProgressLine(toFile || !process.stdout.isTTY);
  try {
    const { records } = await convert(
      path === STANDARD ? process.stdin : path,
      toFile ? out : process.stdout,
      {
        endian,
        exists: force ? 'replace' : 'error',
        onProgress: progress.of(path === STANDARD ? 'of standard input' : path),
      },
    );
    progress.clear();
    if (toFile) printMessage(`${out}: ${counted(records, 'reference')}`);
    return faults.end();
  } catch (error) {
    progress.clear();
    if (hasCode(error, 'EPIPE')) throw new ClosedPipe();
    if (!(error instanceof TracewrightError)) throw error;
    if (!(error instanceof TraceFormatError)) {
      const exists = error.code === 'ERR_TRACE_EXISTS' && toFile && !force;
      throw new UsageError(exists ? `${out} exists; replace it with --force` : error.message);
    }
    printMessage(`tracewright convert: ${error.message}`);
    return EXIT_FAULTY;
  } finally {
    rings.close();
  }
}

/** `convert --to laplace-text`. */
export function convertToLaplaceText(request: ConversionRequest): Promise<number> {
  return convertWith(referencesToText, request);
}

/** `convert --to laplace-binary`. */
export function convertToLaplaceBinary(request: ConversionRequest): Promise<number> {
  return convertWith(textToReferences, request);
}
