/** An instrumentation that is installed. */
export interface FoundInstrumentation {
  /** Of the package. */
  name: string;
  /** The file that the package's name leads to. */
  path: string;
}

/** An instrumentation of OpenTelemetry, as far as its methods are documented. */
export interface Instrumentation {
  enable(): void;
  disable(): void;
}

/** An instrumentation that runs. */
export interface RunningInstrumentation {
  found: FoundInstrumentation;
  instrumentation: Instrumentation;
}
