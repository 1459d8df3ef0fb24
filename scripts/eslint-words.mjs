/**
 * An ESLint rule: `place` says nothing of what is meant. docs/architecture.md has a word for each thing: slot, offset,
 * position, path, rank, lane, number.
 */
const WORD =
  /(?<![A-Za-z])[pP]laces?(?![a-z])|(?<=[a-z#])Places?(?![a-z])|(?<![A-Z])PLACES?(?![A-Z])/g;
/** English for "instead of" and "as it is", and names that native code has. */
const ALLOWED =
  /\b(?:in|the) place of\b|\b(?:is)?[iI]nPlace\b|\b(?:mostO|o)penPlaces\b|\boptions\.places\b|\bplaces: slots\b/g;

const rule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { vague: '`{{word}}` has a better name: slot, offset, position, path, rank …' },
  },
  create(context) {
    return {
      Program() {
        const { text } = context.sourceCode;
        const checked = text.replaceAll(ALLOWED, (allowed) => ' '.repeat(allowed.length));
        for (const { 0: word, index } of checked.matchAll(WORD)) {
          const loc = context.sourceCode.getLocFromIndex(index);
          context.report({ loc, messageId: 'vague', data: { word } });
        }
      },
    };
  },
};

export default { rules: { place: rule } };
