/**
 * Writes the offer of a call: data alone, because a worker has none of the files of the project. team-store.md 7.2 and 9.3.
 *
 * OFFER-WRITER-1 The arguments and captured values of a call that needs a secret are sealed, all of them. The rest of its offer holds
 *    no secret: names, digests and sources, which have marks in the place of theirs.
 * OFFER-WRITER-2 Without a key that the user named, workers can't have it, and a secret result would be sealed with a key of the worker:
 *    the run executes such a call.
 */
import type { Json, Payload } from '../../../../journal/event.js';
import type { Awaitable } from '../../../runtime/awaitable.js';
import type { DescribedCall, NotOffered, OfferableCall, OfferedCall, OfferedSource } from '../../../runtime/calls/offered-call.js';
import { VERSION } from '../../../version.js';
import { aboutArguments, aboutCaptured } from './sealed-offer.js';

export interface OfferWriterPorts {
  readonly payload: (value: Json) => Awaitable<Payload>;
  /** Absent where workers can't have the key. */
  readonly sealed?: ((value: Json, about: string) => Promise<Payload>) | undefined;
  /** The sources that the run has read up to now. */
  readonly sources: () => readonly OfferedSource[];
  /** Names of the budgets of the project that hold the run; undefined where it has limits that only it can count. */
  readonly budgets: readonly string[] | undefined;
}

const NO_KEY = 'and workers can have no key for it (set MLLD_JOURNAL_KEY here and there)';

export class OfferWriter {
  /** Calls of one function have the same captured values. */
  private readonly captured = new Map<string, Promise<Payload>>();

  constructor(private readonly ports: OfferWriterPorts) {}

  /** OFFER-WRITER-2. Undefined where the call can be offered. */
  reasonAgainst({ hasSecret }: DescribedCall): NotOffered | undefined {
    const { sealed, sources } = this.ports;
    if (sealed !== undefined) return undefined;
    if (hasSecret) return { because: `a secret is among what it needs or returns, ${NO_KEY}` };
    const secret = sources().find(({ whole }) => whole !== undefined);
    return secret && { because: `${secret.path} has a secret in it, ${NO_KEY}` };
  }

  /** `passed` is the call as guards have left it. */
  async write(call: OfferableCall, described: DescribedCall, passed: DescribedCall | undefined): Promise<NotOffered | string> {
    const { sealed, sources, budgets = [] } = this.ports;
    const { key, fn, attempt, definition } = call;
    const { module, main, labels, isSecret } = described;
    const hasSecret = described.hasSecret || passed?.hasSecret === true;
    if (hasSecret && sealed === undefined) return { because: `a guard puts a secret into it, ${NO_KEY}` };
    const guards = definition.parts.filter(({ kind }) => kind === 'guard' || kind === 'hook');
    const unsealed = {
      fn,
      module,
      main,
      ...(labels && { labels }),
      ...(isSecret && { isSecret }),
      ...(guards.length > 0 && { guards }),
      ...(attempt !== undefined && { attempt }),
      fingerprint: definition.fingerprint,
      sources: [...sources()],
      ...(budgets.length > 0 && { budgets }),
      mlld: VERSION,
    };
    const seal = hasSecret ? sealed : undefined;
    const offer = { ...unsealed, captured: await this.capturedBy(described, unsealed, seal) };
    const stored = (part: 'args' | 'passed', values: DescribedCall['args']): Awaitable<Payload> => {
      const json = values as readonly object[] as Json;
      return seal ? seal(json, aboutArguments(key, part, offer)) : this.ports.payload(json);
    };
    const args = await stored('args', described.args);
    const whole: OfferedCall = { ...offer, args, ...(passed && { passed: await stored('passed', passed.args) }) };
    const parts = [whole.args, whole.captured, whole.passed ?? whole.args];
    if (seal && !parts.every((part) => 'keyId' in part)) return { because: 'its secrets could not be sealed' };
    return JSON.stringify(whole);
  }

  private capturedBy(
    { captured }: DescribedCall,
    offer: Omit<OfferedCall, 'args' | 'captured'>,
    seal: OfferWriterPorts['sealed'],
  ): Promise<Payload> {
    const json = captured as readonly object[] as Json;
    const about = seal && aboutCaptured(offer);
    const text = `${about ?? offer.fingerprint} ${JSON.stringify(json)}`;
    const known = this.captured.get(text);
    if (known) return known;
    const storing = Promise.resolve(seal && about !== undefined ? seal(json, about) : this.ports.payload(json));
    this.captured.set(text, storing);
    return storing;
  }
}
