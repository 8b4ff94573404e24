/** The one place that prints errors. It looks at the members of an error, not at its class. values.md 16.2 and 16.3, world.md 18. */
import { codeFrame } from '../../grammar/parse.js';
import { messageOf, placeOf, type SourceLocation } from '../../src/errors.js';
import { visible } from './terminal-text.js';

interface UserError {
  readonly code: string;
  readonly message: string;
  readonly location?: SourceLocation | undefined;
  readonly hint?: string | undefined;
  readonly trail?: readonly { readonly what: string; readonly location: SourceLocation }[];
}

const PARSE_ERROR = 'Parse error';
const INTERNAL_HINT = 'this is a fault of mlld, not of the script; run again with --debug for the stack, and report it';

/** Ends with a newline. A user's error never shows a stack; one of ours shows it with `debug`. */
export function renderError(error: unknown, { debug = false }: { readonly debug?: boolean }): string {
  if (!isUserError(error)) {
    const message = messageOf(error);
    const stack = debug && error instanceof Error && error.stack !== undefined ? `${error.stack}\n` : '';
    return `Internal error: ${message}\n  ${INTERNAL_HINT}\n${stack}`;
  }
  const lines = [headingOf(error)];
  if (error.location) {
    lines.push(`  ${placeOf(error.location)}`);
    const { text, at } = error.location;
    lines.push(...indented(frameOf(isSyntaxError(error) ? withoutSecrets(text) : text, at)));
  }
  if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`);
  lines.push(...trailOf(error));
  return `${lines.join('\n')}\n`;
}

/** Control characters are written out before the caret is placed, or it would point too far to the left. */
function frameOf(text: string, at: number): string {
  // Behind the CR of a line end is before it: alone it would be written out.
  return codeFrame(visible(text), visible(text.slice(0, at).replace(/\r$/, '')).length);
}

/**
 * The secrets of a script that can't be parsed are not known yet: quoted text in a line that declares one is starred out, sign for sign,
 * so that the caret keeps its place.
 */
function withoutSecrets(source: string): string {
  return source.replace(/^.*\b(?:var|exe)[ \t][^@\n]*\bsecret\b.*$/gm, (line) =>
    line.replace(/(["'`])(.*?)(\1|$)/g, (_, open: string, quoted: string, close: string) => `${open}${'*'.repeat(quoted.length)}${close}`),
  );
}

/** So many lines of a trail are shown at either end. */
const TRAIL_ENDS = 12;

/** Recursion repeats the same places: equal lines are printed once with their number, and the middle of a long trail is counted. */
function trailOf({ trail = [] }: UserError): readonly string[] {
  const lines: string[] = [];
  let times = 1;
  const passed = trail.map(({ what, location }) => `  in ${what} (${placeOf(location)})`);
  passed.forEach((line, i) => {
    if (line === passed[i + 1]) return void times++;
    lines.push(times === 1 ? line : `${line}, ${times} times`);
    times = 1;
  });
  const left = lines.length - 2 * TRAIL_ENDS;
  return left <= 1 ? lines : [...lines.slice(0, TRAIL_ENDS), `  … ${left} more`, ...lines.slice(-TRAIL_ENDS)];
}

function headingOf(error: UserError): string {
  const { message } = error;
  if (!isSyntaxError(error)) return `Error: ${message}`;
  return message.startsWith(PARSE_ERROR) ? message : `${PARSE_ERROR}: ${message}`;
}

function indented(block: string): readonly string[] {
  return block.split('\n').map((line) => `  ${line}`.trimEnd());
}

export function isUserError(error: unknown): error is UserError {
  // Errors of the system have a code as well, but no `hint`.
  return error instanceof Error && 'hint' in error && typeof (error as { code?: unknown }).code === 'string';
}

function isSyntaxError(error: UserError): boolean {
  const { cause } = error as { cause?: unknown };
  return error.code === 'SYNTAX' || (cause instanceof Error && cause.name === 'SyntaxFailure');
}
