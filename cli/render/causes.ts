/** Words the kinds of failures, as lists and pages name them. */
import type { FailureCause } from '../../replay/reports/postmortem/failure-cause.js';

export const CAUSES: { readonly [C in FailureCause]: string } = {
  'rate-limit': 'rate limit',
  overloaded: 'overloaded',
  network: 'network',
  timeout: 'timeout',
  'bad-reply': 'bad reply',
  content: 'content refused',
  quota: 'quota used up',
  auth: 'not authorised',
  budget: 'budget of the call',
  crash: 'crash',
  upstream: 'not executed',
  denied: 'denied by a guard',
  interrupted: 'interrupted',
  'exit-status': 'exit status of a command',
  code: 'mistake in code',
  other: 'error',
};

/** `what` is a function, an operation, or the word `command` for one outside all calls. */
export function causeIn(cause: FailureCause, what: string): string {
  return cause === 'exit-status' && what === 'command' ? CAUSES[cause] : `${CAUSES[cause]} in ${what}`;
}

/** The message of a failed call begins with the words of its class (`wordsOfClass`), which a report has said before it already. */
export function messageBehind(cause: FailureCause, message: string): string {
  const words = `${cause.replaceAll('-', ' ')}: `;
  return message.startsWith(words) ? message.slice(words.length) : message;
}
