/** Texts that a recognised program is known to print as its whole output. calls.md 7.6. */
import type { FailureClass } from '../failure.js';
import { classOfStatus } from './http-status.js';
import { durationIn, momentOfSeconds, nextClockTime } from './times.js';

export interface KnownText {
  readonly class: FailureClass;
  readonly resetsAtMs?: number;
  /** The HTTP status that the text names. */
  readonly status?: number;
}

type Recognise = (match: RegExpExecArray, nowMs: number) => KnownText | undefined;
type Row = readonly [pattern: RegExp, recognise: Recognise];

/** Beside a status of 0 a text counts only up to this length, in UTF-16 units: a result may quote it. */
export const KNOWN_TEXT_MAX = 500;

const CLAUDE: readonly Row[] = [
  [/^API Error: Claude Code is unable to respond to this request/, always('content')],
  [/^API Error: Request rejected \((\d{3})\)/, byStatus],
  [/^API Error: (\d{3})\b/, byStatus],
  [/^API Error: (?:Connection error|Request timed out|Unable to connect to API|The socket connection was closed)\b/, always('network')],
  [/^Claude AI usage limit reached\|(\d+)/, ([, seconds], nowMs) => quota(momentOfSeconds(Number(seconds), nowMs))],
  [
    /^You've hit your .*limit(?: · resets (.+))?/,
    ([, clock], nowMs) => quota(clock === undefined ? undefined : nextClockTime(clock, nowMs)),
  ],
  [/^Credit balance is too low/, always('quota')],
  [/^(?:Invalid API key · |Please run \/login|Not logged in)/, always('auth')],
];

const CODEX: readonly Row[] = [
  [/^(?:ERROR: )?You've hit your usage limit/, (match, nowMs) => quota(resetOf(match.input, nowMs))],
  [/^(?:ERROR: )?exceeded retry limit, last status: (\d{3})\b/, byStatus],
  [/^(?:ERROR: )?unexpected status (\d{3})\b/, codexStatus],
  [/^(?:ERROR: )?Selected model is at capacity/, always('overloaded')],
  [/^(?:ERROR: )?(?:stream disconnected |error sending request )/, always('network')],
];

const GEMINI: readonly Row[] = [
  [
    /^\[API Error: .*\(Status: RESOURCE_EXHAUSTED\)\]/,
    ({ input }) => ({ class: /quota/i.test(input) && /per day/i.test(input) ? 'quota' : 'rate-limit' }),
  ],
];

const TEXTS: { readonly [program: string]: readonly Row[] } = { claude: CLAUDE, codex: CODEX, gemini: GEMINI };

/** Messages of errors, which an answer may begin with as well. */
const GEMINI_ERRORS: readonly Row[] = [
  [/^You have exhausted your capacity on this model\b/, ({ input }, nowMs) => quota(resetAfter(input, nowMs))],
  [/^Resource has been exhausted\b/, always('rate-limit')],
  [/^(?:The model is overloaded|An internal error has occurred)\b/, always('overloaded')],
  [/^(?:exception )?TypeError: fetch failed\b/, always('network')],
  [/^Response was blocked\b/, always('content')],
];

/** Looks at the first line of what a program said in an error: in its envelope, or beside a status other than 0. */
export function knownErrorOf(program: string | undefined, text: string, nowMs: number): KnownText | undefined {
  const known = knownTextOf(program, text, nowMs);
  return known ?? (program === 'gemini' ? firstOf(GEMINI_ERRORS, text, nowMs) : undefined);
}

/** Looks at the first line of what a program printed, trimmed. Undefined for a text that is not known. */
export function knownTextOf(program: string | undefined, text: string, nowMs: number): KnownText | undefined {
  if (program === undefined || !Object.hasOwn(TEXTS, program)) return undefined;
  return firstOf(TEXTS[program] ?? [], text, nowMs);
}

/** `will reset after 3h12m4s` */
export function resetAfter(message: string, nowMs: number): number | undefined {
  const waitMs = durationIn(/will reset after (.+)/i.exec(message)?.[1] ?? '');
  return waitMs === undefined ? undefined : nowMs + waitMs;
}

function firstOf(rows: readonly Row[], text: string, nowMs: number): KnownText | undefined {
  const [line = ''] = text.trim().split('\n');
  for (const [pattern, recognise] of rows) {
    const match = pattern.exec(line);
    const found = match ? recognise(match, nowMs) : undefined;
    if (found) return found;
  }
  return undefined;
}

function always(failureClass: FailureClass): Recognise {
  return () => ({ class: failureClass });
}

function byStatus([, status = '']: RegExpExecArray): KnownText | undefined {
  const failureClass = classOfStatus(Number(status));
  return failureClass === undefined ? undefined : { class: failureClass, status: Number(status) };
}

/** codex prints a refused prompt as a bad request. */
function codexStatus(match: RegExpExecArray): KnownText | undefined {
  return /content_policy_violation|content_filter/.test(match.input) ? { class: 'content' } : byStatus(match);
}

function quota(resetsAtMs: number | undefined): KnownText {
  return { class: 'quota', ...(resetsAtMs === undefined ? {} : { resetsAtMs }) };
}

/** `try again at <time>` or `try again in <duration>`. */
function resetOf(text: string, nowMs: number): number | undefined {
  const waitMs = durationIn(/try again in ([^.]+)/i.exec(text)?.[1] ?? '');
  if (waitMs !== undefined) return nowMs + waitMs;
  const clock = /try again at ([^.]+)/i.exec(text)?.[1];
  if (clock === undefined) return undefined;
  const date = Date.parse(clock);
  return date > nowMs ? date : nextClockTime(clock, nowMs);
}
