/** Errors that a user can cause. What breaks an invariant of ours is a plain `Error`, which nobody catches. */

export interface SourceLocation {
  /** As the user would write it: relative to the working directory where that is shorter. */
  readonly file: string;
  /** Offset into the text. */
  readonly at: number;
  readonly text: string;
}

export interface ErrorDetails {
  readonly location?: SourceLocation | undefined;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

export class MlldError extends Error {
  /** Stable, documented in docs/errors.md; the wording may improve. */
  readonly code: string;
  location: SourceLocation | undefined;
  readonly hint: string | undefined;
  /** The operations around the place, innermost first; filled in while the error rises. */
  readonly trail: { readonly what: string; readonly location: SourceLocation }[] = [];
  constructor(code: string, message: string, { location, hint, cause }: ErrorDetails = {}) {
    super(message, { cause });
    this.name = 'MlldError';
    this.code = code;
    this.location = location;
    this.hint = hint;
  }
}
