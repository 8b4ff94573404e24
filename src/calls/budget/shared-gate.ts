/**
 * Holds back what an attempt is expected to cost in budgets that all runs of a project share, before the attempt is recorded as started.
 * team-store.md 8.
 *
 * GATE-1 No attempt begins unless each of its budgets has room for it. What it reserved ends with the event that ends the attempt.
 * GATE-2 An attempt waits only where calls in flight elsewhere may make room. One inside another attempt does not wait: that one's own
 *    reservation may be what it waits for, and two such attempts would wait for each other.
 * GATE-3 An attempt whose start is recorded, and which does not begin because another run has its call, gives its reservation back. A kill
 *    before that leaves it to the end of the run, which counts it as spent; `store rebuild` knows from `call.withdrawn` that it is not.
 */
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { Started } from '../dispatch/ports.js';
import type { Stop } from '../dispatch/stop.js';
import { sharedBudgetStop, sumText, type FullBudget } from './shared-words.js';

/** The first and the longest time between two tries; other runs say nothing when they settle. */
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 2000;

export type Refusal = { readonly kind: 'missing'; readonly name: string } | ({ readonly kind: 'full' } & FullBudget);

interface AttemptId {
  /** The call key. */
  readonly key: string;
  readonly try: number;
}

export interface SharedReservations {
  /** Undefined when it is reserved. It may be asked for twice. */
  reserve(attempt: AttemptId & { readonly usd?: number; readonly tokens?: number }): Promise<Refusal | undefined>;
  /** The attempt did not begin, also where its start is recorded. */
  release(attempt: AttemptId): Promise<void>;
}

export interface AdmittedCall {
  /** Undefined for a call that is not recorded. */
  readonly key: string | undefined;
  readonly try: number;
  readonly fn: string;
  readonly isInner: boolean;
  readonly warnOnce: (message: string) => void;
}

interface GatePorts {
  readonly names: readonly string[];
  /** An attempt of which nothing is known is refused. */
  readonly isStrict: boolean;
  readonly dispatcher: Pick<Dispatcher, 'stop' | 'sleep' | 'stoppedBy'>;
}

export class SharedBudgetGate {
  private reservations: SharedReservations | undefined;

  constructor(private readonly ports: GatePorts) {}

  get names(): readonly string[] {
    return this.ports.names;
  }

  open(reservations: SharedReservations): void {
    this.reservations = reservations;
  }

  /** Returns the attempt with what it reserved; undefined when nothing starts any more. Rejects with INTERRUPTED. GATE-1 */
  async admit(started: Started, call: AdmittedCall): Promise<Started | undefined> {
    const { names, isStrict, dispatcher } = this.ports;
    const { key } = call;
    if (key === undefined || this.reservations === undefined) {
      return this.stop({ class: 'budget', message: 'a call that is not recorded has no part in a shared budget' }, started);
    }
    const { basis = 'none', ...cost } = started.reserved ?? {};
    if (isStrict && basis === 'none') {
      const message = `what a call of @${call.fn} costs is not known, and --budget-strict lets nothing start that could cost more`;
      return this.stop({ class: 'budget', message, hint: 'give the function a maxCost, or leave --budget-strict out' }, started);
    }
    for (let delayMs = RETRY_FIRST_MS; dispatcher.stoppedBy === undefined; delayMs = Math.min(2 * delayMs, RETRY_MAX_MS)) {
      const refusal = await this.reserve(this.reservations, { key, try: call.try, ...cost });
      if (refusal === undefined) return { ...started, reserved: { ...cost, basis, shared: names } };
      if ('class' in refusal) return this.stop(refusal, started);
      if (refusal.kind === 'missing' || call.isInner || !mayMakeRoom(refusal))
        return this.stop(sharedBudgetStop(refusal, call.fn), started);
      const { name, unit, reserved } = refusal.budget;
      call.warnOnce(`waits for the shared budget ${name}: calls in flight hold ${sumText(reserved, unit)} of it`);
      await dispatcher.sleep(delayMs);
    }
    return undefined;
  }

  /** Gives back what the attempt reserved: it did not begin. What can't be given back counts as spent. GATE-3 */
  async release({ key, try: attempt }: Pick<AdmittedCall, 'key' | 'try'>): Promise<void> {
    if (key !== undefined) await this.reservations?.release({ key, try: attempt }).catch(() => undefined);
  }

  private async reserve(
    reservations: SharedReservations,
    request: Parameters<SharedReservations['reserve']>[0],
  ): Promise<Refusal | Stop | undefined> {
    try {
      return await reservations.reserve(request);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if ('code' in error && error.code === 'STORE_WENT_BACK') return { class: 'journal', message: error.message, error };
      return { class: 'store', message: `the shared budgets can't be asked: ${error.message}`, error };
    }
  }

  private stop(stop: Stop, { op }: Started): undefined {
    this.ports.dispatcher.stop(stop, op);
  }
}

/** GATE-2 */
function mayMakeRoom({ budget: { total, spent, reserved }, amount }: FullBudget): boolean {
  return reserved > 0 && spent < total && spent + amount <= total;
}
