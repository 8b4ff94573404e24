/**
 * Names what the sealed parts of an offer belong to.
 *
 * SEALED-OFFER-1 They can be opened only with all else that the offer says: the key of its call, its function and sources. So
 *    nobody who can write into the store, but has no key, gets them by offering them to a function of his own.
 */
import { sha256 } from '../../../../journal/canonical.js';
import type { CallKey } from '../../../../journal/ids.js';
import type { OfferedCall } from '../../../runtime/calls/offered-call.js';

type Unsealed = Omit<OfferedCall, 'args' | 'passed' | 'captured'>;

export function aboutCaptured(offer: Unsealed): string {
  return `offer captured ${digestOf(functionIn(offer))}`;
}

export function aboutArguments(key: CallKey, part: 'args' | 'passed', offer: Omit<OfferedCall, 'args' | 'passed'>): string {
  const { captured, labels = [], attempt = 1, isSecret = false } = offer;
  return `offer ${part} ${key} ${digestOf([...functionIn(offer), captured, labels, attempt, isSecret])}`;
}

function functionIn({ fn, module, main, fingerprint, guards = [], sources }: Unsealed): readonly unknown[] {
  return [fn, module, main, fingerprint, guards, sources];
}

function digestOf(parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts));
}
