/** Reports a mistake in a user's text. The renderer looks at these members, not at the class. */
export class SyntaxFailure extends Error {
  /** Stable; documented in docs/errors.md. */
  readonly code: string;
  /** Offset into the source text, in UTF-16 units. */
  readonly at: number;
  readonly hint: string | undefined;
  constructor(message: string, details: { code?: string; at: number; hint?: string | undefined }) {
    super(message);
    this.name = 'SyntaxFailure';
    this.code = details.code ?? 'SYNTAX';
    this.at = details.at;
    this.hint = details.hint;
  }
}
