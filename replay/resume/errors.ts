/** The error of a request about recorded runs that can't be met. The renderer looks at these members, not at the class. */

export interface ReplayErrorDetails {
  readonly hint?: string | undefined;
  /** Targets that could have been meant, as they would be typed. The message lists them already. */
  readonly candidates?: readonly string[] | undefined;
  readonly cause?: unknown;
}

export class ReplayError extends Error {
  /** Stable, documented in docs/errors.md; the wording may improve. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly candidates: readonly string[];
  constructor(code: string, message: string, { hint, candidates = [], cause }: ReplayErrorDetails = {}) {
    super(message, { cause });
    this.name = 'ReplayError';
    this.code = code;
    this.hint = hint;
    this.candidates = candidates;
  }
}
