// Preloaded: the binary and the built-in modules that the hook needs, without its code.

'use strict';
require('node:diagnostics_channel');
require('../build/Release/tracewright.node');
