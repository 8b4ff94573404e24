/**
 * Looks once more at the claim of a call whose start took longer than the lease of its run. team-store.md 6.
 *
 * OWN-CLAIM-1 A body begins only while the claim is this run's: either it is for sure, which costs nothing to know, or it was claimed again
 *    behind `call.started`.
 * OWN-CLAIM-2 A start whose call is another run's by then is taken back by `call.withdrawn`: nothing began. A kill before that is recorded
 *    leaves a start without an end, which counts as one that may have cost something.
 * OWN-CLAIM-3 A call that is this run's again begins with a start of its own, because its place in the lane and its reservation are new.
 */
import type { EventRef, RunId } from '../../../journal/ids.js';
import type { AttemptView } from '../../calls/attempt.js';
import type { LostClaim } from '../../runtime/calls/claimed-call.js';
import { ExecutedElsewhere } from '../../runtime/calls/executed-elsewhere.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';

export class OwnClaim {
  constructor(
    private readonly call: CacheableCall,
    private readonly identity: CallIdentity,
    /** The recorded result that the new one replaces. */
    private refusing: EventRef | undefined,
  ) {}

  get refused(): EventRef | undefined {
    return this.refusing;
  }

  /** Undefined while the claim is this run's for sure: no statement, and no promise. OWN-CLAIM-1 */
  confirm(): Promise<LostClaim | undefined> | undefined {
    return this.call.run.cache.claims?.confirm(this.claimed, this.refusing);
  }

  /** OWN-CLAIM-2 */
  withdraw(view: AttemptView, to: RunId | undefined): void {
    const { recorder } = this.call.run;
    const { key } = this.identity;
    recorder.post({
      type: 'call.withdrawn',
      key,
      op: this.call.op.path,
      ...(view.try > 1 && { try: view.try }),
      ...(to !== undefined && { to }),
    });
  }

  /** Resolves when the call is this run's again; throws `ExecutedElsewhere` where another run has a result of it. OWN-CLAIM-3 */
  async regain(): Promise<void> {
    const state = await this.call.run.cache.claims?.claim(this.claimed, this.refusing);
    if (state?.kind === 'answered') throw new ExecutedElsewhere(state.by);
    if (state?.replaces) this.refusing = { run: state.replaces.run, seq: state.replaces.seq };
  }

  private get claimed(): { readonly key: CallIdentity['key']; readonly fn: string } {
    return { key: this.identity.key, fn: this.identity.request.fn };
  }
}
