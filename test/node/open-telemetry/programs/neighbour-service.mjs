import * as http from 'node:http';
import * as http2 from 'node:http2';
import { serve } from './neighbour-program.cjs';

serve(http, http2);
