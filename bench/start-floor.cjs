// Preloaded: the binary and the built-in modules that the hook needs, without its code.

'use strict';
require('node:diagnostics_channel');
const { PerformanceObserver } = require('node:perf_hooks');

require('../build/Release/tracewright.node');
new PerformanceObserver(() => undefined).observe({ entryTypes: ['gc'] });
