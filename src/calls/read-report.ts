/** Reads what a body reports about its call: any value of foreign code, or a line of its report file. Pure. calls.md 9. */
import { isObject } from '../../journal/json-object.js';
import { isMoment, isWait, momentOfSeconds } from './evidence/times.js';
import type { Failure, FailureClass } from './failure.js';
import type { ReportedUsage } from './replies/reply.js';
import { whyExcessive } from './usage.js';

const NAMES = ['model', 'provider'] as const;
const TOKENS = ['inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const;

/** Classes in which a body may fail its call. */
const CLASSES: readonly FailureClass[] = [
  'rate-limit',
  'overloaded',
  'network',
  'timeout',
  'bad-reply',
  'content',
  'quota',
  'auth',
  'budget',
  'crash',
];

const SECOND_MS = 1000;

/** A part of a report that is ignored, for a warning. */
export interface Ignored {
  readonly member: string;
  readonly why: string;
}

export interface Read<T> {
  readonly value: T;
  readonly ignored: readonly Ignored[];
}

type OneUsage = Omit<ReportedUsage, 'models'>;

/** A member that is null or undefined is not known. */
export function readUsage(members: unknown): Read<ReportedUsage> {
  if (!isObject(members)) return { value: {}, ignored: [{ member: 'usage', why: 'is not an object' }] };
  const usage: { -readonly [M in keyof OneUsage]: OneUsage[M] } = {};
  const ignored: Ignored[] = [];
  for (const [member, value] of Object.entries(members)) {
    if (value === undefined || value === null) continue;
    const name = NAMES.find((each) => each === member);
    const tokens = TOKENS.find((each) => each === member);
    if (name) {
      if (typeof value === 'string' && value !== '') usage[name] = value;
      else ignored.push({ member, why: 'is not a text' });
    } else if (tokens || member === 'costUsd') {
      const why = isAmount(value) ? whyExcessive(tokens ?? 'costUsd', value) : NO_AMOUNT;
      if (!isAmount(value) || why !== undefined) ignored.push({ member, why: why ?? NO_AMOUNT });
      else if (tokens) usage[tokens] = Math.round(value);
      else usage.costUsd = value;
    } else ignored.push({ member, why: `is not one of ${[...NAMES, ...TOKENS, 'costUsd'].join(', ')}` });
  }
  return { value: usage, ignored };
}

/** Undefined when the class is none. A reset that is past is none. calls.md 4.6. */
export function readFailure(failureClass: unknown, message: unknown, details: unknown, nowMs: number): Read<Failure> | undefined {
  const known = CLASSES.find((each) => each === failureClass);
  if (known === undefined) return undefined;
  const { retryAfterMs, resetsAt, status } = isObject(details) ? details : {};
  const ignored: Ignored[] = [];
  const amount = (member: string, value: unknown): number | undefined => {
    if (value === undefined || value === null) return undefined;
    if (isAmount(value)) return value;
    ignored.push({ member, why: NO_AMOUNT });
    return undefined;
  };
  const within = (member: string, value: unknown, isFit: (ms: number) => boolean, unitMs: number, why: string): number | undefined => {
    const count = amount(member, value);
    if (count === undefined || isFit(count * unitMs)) return count;
    ignored.push({ member, why });
    return undefined;
  };
  const waitMs = within('retryAfterMs', retryAfterMs, isWait, 1, 'is more than a year');
  const resetsAtSeconds = within('resetsAt', resetsAt, isMoment, SECOND_MS, 'is no moment in seconds since 1970');
  const resetsAtMs = momentOfSeconds(resetsAtSeconds, nowMs);
  const httpStatus = amount('status', status);
  const value: Failure = {
    class: known,
    evidence: 'report',
    message: firstLine(message),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    ...(resetsAtMs === undefined ? {} : { resetsAtMs }),
    ...(httpStatus === undefined ? {} : { status: httpStatus }),
  };
  return { value, ignored };
}

/** For the message about a class that is none. */
export function classesOfReports(): string {
  return CLASSES.join(', ');
}

export type ReportLine =
  | { readonly kind: 'usage'; readonly members: unknown }
  | { readonly kind: 'fail'; readonly class: unknown; readonly message: unknown; readonly details: unknown }
  | { readonly kind: 'headers'; readonly headers: unknown }
  | { readonly kind: 'none' };

/** Reads the lines of a report file; blank ones are left out. */
export function readReportLines(text: string): ReportLine[] {
  return text.split('\n').flatMap((line): ReportLine[] => (line.trim() === '' ? [] : readLine(line)));
}

function readLine(line: string): ReportLine[] {
  const parsed = parse(line);
  if (!isObject(parsed)) return [{ kind: 'none' }];
  const { usage, fail, headers } = parsed;
  const found: ReportLine[] = [];
  if (isObject(usage)) found.push({ kind: 'usage', members: usage });
  if (isObject(headers)) found.push({ kind: 'headers', headers });
  if (isObject(fail)) found.push({ kind: 'fail', class: fail.class, message: fail.message, details: fail });
  return found.length > 0 ? found : [{ kind: 'none' }];
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // the caller warns of the line
  }
}

const NO_AMOUNT = 'is negative or not a number';

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

const MESSAGE_UNITS_MAX = 200;

function firstLine(message: unknown): string {
  const text = typeof message === 'string' ? message : message === undefined || message === null ? '' : String(message as number);
  return (text.trim().split('\n')[0] ?? '').slice(0, MESSAGE_UNITS_MAX);
}
