/** Words in a list what the calls of a run came to, and what they cost. calls.md 10.6 and 14.5. */
import { costOrDash, knownCost, money } from '../../cli/render/units.js';
import type { Status } from './api.js';

type Calls = Status['calls'];

/** A run without calls cost nothing, and says nothing about them. */
export function hasCalls({ executed, reused, failed, denied, notExecuted, attempts }: Calls): boolean {
  return executed + reused + failed + denied + notExecuted + attempts > 0;
}

/** `$1.37 · 1 unresolved · saved $0.20`. */
export function listWords(calls: Calls): string {
  const { executed, reused, unresolved } = calls;
  const parts = [costOf(calls), countOf(unresolved, 'unresolved'), countOf(reused, 'reused'), savedOf(calls)];
  const words = parts.filter((part) => part !== '').join(' · ');
  return words === '' ? countOf(executed, 'executed') : words;
}

/** Nothing where nothing was executed, because nothing can have cost anything. */
function costOf(calls: Calls): string {
  if (calls.attempts === 0) return '';
  return knownCost(calls) === null ? 'cost unknown' : costOrDash(calls);
}

function savedOf({ savedUsd }: Calls): string {
  return savedUsd === null || savedUsd === 0 ? '' : `saved ${money(savedUsd)}`;
}

function countOf(count: number, what: string): string {
  return count === 0 ? '' : `${count.toLocaleString('en')} ${what}`;
}
