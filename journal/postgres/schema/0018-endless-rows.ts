/**
 * Lets no row last for ever that a role may write, whatever a colleague's SQL has put there. team-store.md 4.5, 8, 9.1.
 *
 * ENDLESS-ROWS-1 A lease that ends later than any program writes is none: its run is as one whose lease has run out. (With such a lease a
 *    run kept its claims for ever, could not be sealed, and stopped every `store rebuild`.) Programs write an hour at most; the second hour
 *    is for a server whose clock was set back.
 * ENDLESS-ROWS-2 The grace after a restart of the server is an hour at most, too, whatever length of lease the row of a run has.
 * ENDLESS-ROWS-3 The total of a budget is an amount. Against one that is not a number everything could be reserved. A check of what is
 *    spent would refuse a paid result; a check of the total can't, because no append changes it.
 * ENDLESS-ROWS-4 Times of shared lanes are finite: the server subtracts them, and an endless one failed every exchange and every report.
 *
 * A total that is no amount becomes nothing, so that its budget lets nothing begin until somebody gives it one.
 */
export const endlessRowsSchema = `
create or replace function mlld.is_alive(p_until timestamptz, p_lease_s int) returns boolean
language sql stable security invoker
return p_until > '-infinity'::timestamptz and ((p_until > statement_timestamp() and p_until < statement_timestamp() + interval '2 hours')
  or pg_postmaster_start_time() + make_interval(secs => least(p_lease_s, 3600)) > statement_timestamp());

update mlld.budgets set total = 0 where not (total >= 0 and total < 1e30);
alter table mlld.budgets add constraint budgets_total_check check (total >= 0 and total < 1e30);

update mlld.limits set blocked_until = null where not isfinite(blocked_until);
alter table mlld.limits add constraint limits_blocked_until_check check (isfinite(blocked_until));
delete from mlld.lane_events where not isfinite(at);
alter table mlld.lane_events add constraint lane_events_at_check check (isfinite(at));
`;
