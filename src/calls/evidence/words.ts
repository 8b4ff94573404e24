/** Words of a failed command whose program is not known. They can only speak for waiting, never for stopping. calls.md 4.1 and 4.5. */
import type { FailureClass } from '../failure.js';

const LINES_READ = 20;

const WORDS: readonly (readonly [RegExp, FailureClass])[] = [
  [/\b429\b|\btoo many requests\b|\brate limit\b/i, 'rate-limit'],
  [/\b529\b|\b503\b|\b502\b|\boverloaded\b/i, 'overloaded'],
  [/\bconnection refused\b|\bconnection reset\b|\bcould not resolve host\b|\bnetwork is unreachable\b/i, 'network'],
];

/** Statuses of curl for a name that isn't found, a refused or broken connection, and an empty or late answer. */
const CURL_NETWORK: ReadonlySet<number> = new Set([6, 7, 28, 35, 52, 56]);

/** Looks at the last lines of what a command wrote to its error output. */
export function classOfWords(stderr: string): FailureClass | undefined {
  const lines = stderr.trimEnd().split('\n').slice(-LINES_READ).join('\n');
  return WORDS.find(([pattern]) => pattern.test(lines))?.[1];
}

/** The class of an exit status that `curl` is known to use. */
export function classOfCurl(exitCode: number): FailureClass | undefined {
  return CURL_NETWORK.has(exitCode) ? 'network' : undefined;
}
