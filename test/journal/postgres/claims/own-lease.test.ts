/** A process knows by its own time alone whether its lease may be over. team-store.md 4.5. */
import { describe, expect, it } from 'vitest';
import { OwnLease, type Moment } from '../../../../journal/postgres/claims/own-lease.js';

/** A lease of 2 s, and the time of the machine: `sleep` is time in which it slept. */
function open() {
  let now: Moment = { monotonicMs: 5000, wallMs: 1_000_000 };
  const lease = new OwnLease(2000, () => now);
  const pass = (ms: number, { asleep = false, setBackMs = 0 } = {}): void => {
    now = { monotonicMs: now.monotonicMs + (asleep ? 0 : ms), wallMs: now.wallMs + ms - setBackMs };
  };
  const sent = now;
  lease.acknowledged(sent);
  return { lease, pass, moment: () => now, lapses: () => lease.lapses - 1 };
}

describe('the own lease', () => {
  it('is not known to hold before a renewal is acknowledged', () => {
    const lease = new OwnLease(2000);
    expect(lease.mayBeOver).toBe(true);
  });

  it('holds for a lease from the moment at which the renewal was sent (OWN-LEASE-1)', () => {
    const { lease, pass, moment, lapses } = open();
    pass(1000);
    const sent = moment();
    pass(900);
    lease.acknowledged(sent);
    pass(1100);
    expect({ mayBeOver: lease.mayBeOver, lapses: lapses() }).toEqual({ mayBeOver: false, lapses: 0 });
    pass(1);
    expect(lease.mayBeOver).toBe(true);
  });

  it('may be over where the machine slept, or its clock was set back (OWN-LEASE-2)', () => {
    const slept = open();
    slept.pass(2001, { asleep: true });
    expect(slept.lease.mayBeOver).toBe(true);
    const set = open();
    set.pass(2001, { setBackMs: 3_600_000 });
    expect(set.lease.mayBeOver).toBe(true);
  });

  it('has lapsed where a renewal is acknowledged behind the end of the one before (OWN-LEASE-3)', () => {
    const { lease, pass, moment, lapses } = open();
    const sent = moment();
    pass(2001);
    lease.acknowledged(sent);
    expect({ mayBeOver: lease.mayBeOver, lapses: lapses() }).toEqual({ mayBeOver: true, lapses: 1 });
    lease.acknowledged(moment());
    expect({ mayBeOver: lease.mayBeOver, lapses: lapses() }).toEqual({ mayBeOver: false, lapses: 2 });
  });

  it('does not end earlier when an older renewal is acknowledged late', () => {
    const { lease, pass, moment } = open();
    const older = moment();
    pass(1500);
    lease.acknowledged(moment());
    lease.acknowledged(older);
    pass(1900);
    expect(lease.mayBeOver).toBe(false);
  });
});
