/** Errors that a user can cause. What breaks an invariant of ours is a plain `Error`, which nobody catches. */
import { locate } from '../grammar/locate.js';

export interface SourceLocation {
  /** As the user would write it: relative to the working directory where that is shorter. */
  readonly file: string;
  /** Offset into the text. */
  readonly at: number;
  readonly text: string;
}

/** A place with what people call it. */
export interface PlacedLocation extends SourceLocation {
  /** From 1, like the column. */
  readonly line: number;
  readonly column: number;
}

export interface ErrorDetails {
  readonly location?: SourceLocation | undefined;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

export class MlldError extends Error {
  /** Stable, documented in docs/errors.md; the wording may improve. */
  readonly code: string;
  #place: PlacedLocation | undefined;
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

  get location(): PlacedLocation | undefined {
    return this.#place;
  }

  set location(location: SourceLocation | undefined) {
    this.#place = location && new Place(location);
  }
}

/** Counts lines when somebody asks: most errors are caught by scripts, and nobody looks at their place. */
class Place implements PlacedLocation {
  readonly file: string;
  readonly at: number;
  readonly text: string;

  constructor({ file, at, text }: SourceLocation) {
    this.file = file;
    this.at = at;
    this.text = text;
  }

  get line(): number {
    return locate(this.text, this.at).line;
  }

  get column(): number {
    return locate(this.text, this.at).column;
  }
}

/** `llm/run/job.mld:12:9` */
export function placeOf({ file, at, text }: SourceLocation): string {
  const { line, column } = locate(text, at);
  return `${file}:${line}:${column}`;
}

/** Returns the message of whatever was thrown; code may throw what is not an error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the message with the stack, for those who look for a defect of ours. */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
