/** The claims of a run that executes an offered call, for which the call was claimed when its offer was taken. */
import type { TakenOffer } from '../../../journal/storage/workers.js';
import type { CallClaims } from '../../runtime/calls/result-cache.js';
import { ExecutedElsewhere } from '../../runtime/calls/executed-elsewhere.js';
import type { OfferedCall } from '../../runtime/calls/offered-call.js';
import { Declined } from './read-offer.js';

/**
 * The call itself has its claim already; calls inside it claim as in any run, and lend its slot while they wait for another one. SERVED-1,
 * SERVED-4
 */
export function claimsOfOffered(
  claims: CallClaims,
  { key, refused }: TakenOffer,
  { fn }: OfferedCall,
  { lendSlot, onMismatch }: { readonly lendSlot: () => () => void; readonly onMismatch: (because: string) => void },
): CallClaims {
  let isClaimed = false;
  return {
    ...claims,
    async claim(inner, declined) {
      if (isClaimed && inner.key === key) throw new ExecutedElsewhere(); // its claim was lost
      if (isClaimed || inner.fn !== fn) return claims.claim({ ...inner, onWaiting: lendSlot }, declined);
      if (inner.key !== key) {
        onMismatch(`its key differs there: the arguments of @${fn} mean something else`);
        throw new Declined('another key');
      }
      isClaimed = true;
      return { kind: 'claimed', replaces: refused };
    },
    giveBack: (other) => {
      if (other !== key) claims.giveBack(other);
    },
  };
}
