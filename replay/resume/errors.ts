/** What a user's wish about the past can get wrong. The renderer asks for these members, not for the class. */

export interface ReplayErrorDetails {
  readonly hint?: string | undefined;
  /** What could have been meant, as it would be typed. The message lists them already. */
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
