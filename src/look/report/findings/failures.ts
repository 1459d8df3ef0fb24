import { ofService } from '../names/request-name.js';
import { countText, shareText } from '../measures/units.js';
import { causeText } from '../print/cause-texts.js';
import type { Rule } from './evidence.js';

const LEAST_FAILED = 5;
/** Of the requests of the route. */
const LEAST_SHARE = 0.01;

/** Requests of a route fail because of one error: with a status of 5xx, or thrown. 4xx is no failure. */
export const failures: Rule = {
  name: 'failures',
  find({ report: { groups, errors }, window }) {
    const scale = errors.read === 0 ? 0 : errors.count / errors.read;
    const about = errors.read < errors.count ? 'about ' : '';
    return errors.types.flatMap((error) => {
      const [worst] = error.requests;
      if (worst === undefined || !window.lasts(error.first, error.last)) return [];
      const route = groups.find(
        ({ name, service }) => name === worst.name && service === worst.service,
      );
      const failed = Math.round(worst.count * scale);
      const all = route?.recorded ?? 0;
      const [first, last] = [error.first, error.last].map((time) => time.slice(11, 19));
      if (failed < LEAST_FAILED || failed < LEAST_SHARE * all || all === 0) return [];
      return {
        rule: 'failures',
        loss: 'requests',
        lost: Math.round(scale * error.requests.reduce((sum, { count }) => sum + count, 0)),
        service: worst.service,
        text: `${worst.name}${ofService(worst.service)} fails, ${about}${shareText(failed / all)} of its requests: ${causeText(error)}`,
        evidence: `${about}${countText(failed)} of ${countText(all)} requests, ${about === '' ? `${first!} to` : 'last'} ${last!} UTC`,
        trace: error.example,
        section: 'errors',
        where: [],
      };
    });
  },
};
