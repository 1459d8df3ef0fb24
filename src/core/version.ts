declare const TRACEWRIGHT_VERSION: string;

/** The version of the package, which the build puts here. */
export const version = TRACEWRIGHT_VERSION;
