const { serve } = require('./neighbour-program.cjs');
serve(require('node:http'), require('node:http2'));
