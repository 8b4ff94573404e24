import { SyntaxFailure } from '../../../../../grammar/errors.js';
import { offsetInSource, parseStylesheet } from '../../../../../grammar/parse-dot.js';
import type { LintRule } from '../../rule.js';

/** Requires that the model stylesheet parses, unless it is empty. */
export const stylesheetSyntax: LintRule = {
  severity: 'error',
  *check({ attributes, text }) {
    const written = attributes.get('model_stylesheet');
    if (!written || written.value.text === '') return;
    try {
      parseStylesheet(written.value.text);
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      const { message, hint, at } = error;
      yield {
        message: `The stylesheet: ${message}`,
        at: offsetInSource(text, written.value, at),
        ...(hint !== undefined && { fix: hint }),
      };
    }
  },
};
