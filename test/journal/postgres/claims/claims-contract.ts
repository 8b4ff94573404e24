/** Holds a store of several machines to its promises about calls: one run executes one, and one result is used. team-store.md 4.2, 6. */
import { describe, expect, it } from 'vitest';
import type { Claimed, Claims } from '../../../../journal/storage/claims.js';
import type { Fact, FactOf } from '../../../../journal/event.js';
import { workflowOf, type CallKey, type EventRef, type OpPath } from '../../../../journal/ids.js';
import type { Journal, Recorded } from '../../../../journal/store.js';
import type { TeamStore } from '../../../../journal/postgres/open-store.js';
import { callCompleted, callStarted, finished, runRef, started } from '../../support/facts.js';
import { factOf, readRun } from '../../support/read.js';

export interface ClaimsDatabase {
  /** Opens stores of one project, which no other test has. */
  readonly project: () => () => TeamStore;
  readonly query: (text: string) => Promise<readonly { readonly [column: string]: unknown }[]>;
}

const keyOf = (n: number): CallKey => (callStarted(n) as FactOf<'call.started'>).key;
const opOf = (n: number): OpPath => (callStarted(n) as FactOf<'call.started'>).op;

function claimsOf({ claims }: Journal): Claims {
  if (claims === undefined) throw new Error('the store has no claims');
  return claims;
}

const claim = (journal: Journal, n: number, refused?: EventRef): Promise<Claimed> => claimsOf(journal).claim({ key: keyOf(n), refused });

export function claimsContract(name: string, { project, query }: ClaimsDatabase): void {
  describe(`claims of calls: ${name}`, () => {
    interface Pair {
      readonly store: TeamStore;
      readonly first: Journal;
      readonly second: Journal;
      readonly added: { readonly fact: Fact; readonly recorded: Recorded }[];
    }

    async function twoRuns(): Promise<Pair> {
      const open = project();
      const store = open();
      const added: Pair['added'] = [];
      const first = await store.create(runRef(1));
      const second = await open().create(runRef(2), { onAdded: (fact, recorded) => added.push({ fact, recorded }) });
      await first.append(started);
      await second.append(started);
      return { store, first, second, added };
    }

    const answers = () =>
      query(`select a.key, r.run, a.seq, a.at::int, a.bytes from mlld.answers a join mlld.runs r using (run_id)
      where r.workflow_id = (select max(workflow_id) from mlld.runs) order by a.key`);

    it('replaces the entry of a run that is gone, and takes several results of one call in one append', async () => {
      const { first } = await twoRuns();
      const [row] = await query('select max(workflow_id) as id from mlld.runs');
      await query(`insert into mlld.answers values (${Number(row?.['id'])}, '${keyOf(1)}', 0, 7, 7, 7)`);
      const facts = [callStarted(1), callCompleted(1), callStarted(2), callCompleted(2), callStarted(2), callCompleted(2)];
      const recorded = await Promise.all(facts.map((fact) => first.append(fact)));
      const entry = (n: number): object => {
        const { seq, position } = recorded[n] as Recorded;
        return { run: runRef(1).run, seq, at: position.offset, bytes: position.bytes };
      };
      expect(await answers()).toEqual(
        [
          { key: keyOf(1), ...entry(1) },
          { key: keyOf(2), ...entry(5) },
        ].sort(byKey),
      );
      await first.close();
    });

    it('replaces the entry of a run of another workflow, which no run can read', async () => {
      const open = project();
      const store = open();
      const other = await open().create(runRef(9, workflowOf('llm/run/other.mld')));
      await other.append(started);
      const [{ id: stranger } = {}] = await query('select max(run_id) as id from mlld.runs');
      await other.close();
      const first = await store.create(runRef(1));
      await first.append(started);
      const [row] = await query('select max(workflow_id) as id from mlld.runs');
      await query(`insert into mlld.answers values (${Number(row?.['id'])}, '${keyOf(1)}', ${Number(stranger)}, 7, 7, 7)`);
      await first.append(callStarted(1));
      const { seq, position } = await first.append(callCompleted(1));
      expect(await answers()).toEqual([{ key: keyOf(1), run: runRef(1).run, seq, at: position.offset, bytes: position.bytes }]);
      await first.close();
    });

    it('lets one of two runs execute a call, and the other one take its result', async () => {
      const { store, first, second } = await twoRuns();
      expect(await claim(first, 1)).toEqual({ kind: 'claimed', replaces: undefined });
      expect(await claim(second, 1)).toMatchObject({ kind: 'taken', run: runRef(1).run });
      expect(await claim(second, 2)).toEqual({ kind: 'claimed', replaces: undefined });
      await first.append(callStarted(1));
      const { seq, position } = await first.append(callCompleted(1));
      const claimed = await claim(second, 1);
      expect(claimed).toEqual({ kind: 'answered', by: { run: runRef(1).run, seq, position } });
      if (claimed.kind === 'answered') expect(await store.readAt(runRef(1), claimed.by.position)).toMatchObject(callCompleted(1));
      await first.close();
      await second.close();
      expect(await query('select * from mlld.claims')).toEqual([]);
    });

    it('claims many calls that are asked for together, each by itself', async () => {
      const { first, second } = await twoRuns();
      await claim(first, 3);
      const claimed = await Promise.all([5, 3, 1, 4].map((n) => claim(second, n)));
      expect(claimed.map(({ kind }) => kind)).toEqual(['claimed', 'taken', 'claimed', 'claimed']);
      await first.close();
      await second.close();
    });

    it('frees a call that failed, was given up, or whose run is gone', async () => {
      const { first, second } = await twoRuns();
      await Promise.all([claim(first, 1), claim(first, 2), claim(first, 3), claim(first, 4)]);
      await first.append(callStarted(1));
      const failed: Fact = { type: 'call.failed', key: keyOf(1), op: opOf(1), message: 'no', elapsedMs: 1 };
      await first.append({ ...failed, retryInMs: 10 });
      expect((await claim(second, 1)).kind).toBe('taken');
      await first.append(callStarted(1));
      await first.append(failed);
      expect((await claim(second, 1)).kind).toBe('claimed');
      claimsOf(first).giveBack(keyOf(2));
      await expect.poll(async () => (await claim(second, 2)).kind, { timeout: 30_000 }).toBe('claimed');
      await query(`update mlld.runs set lease_until = '-infinity' where run_id = (select max(run_id) - 1 from mlld.runs)`);
      expect((await claim(second, 3)).kind).toBe('claimed');
      await first.append(finished);
      expect((await claim(second, 4)).kind).toBe('claimed');
      await first.close();
      await second.close();
    });

    it('keeps a call for the run that gives it back and claims it again at once', async () => {
      const { first, second } = await twoRuns();
      await claim(first, 1);
      const other = claim(first, 2); // is about to be sent
      claimsOf(first).giveBack(keyOf(1));
      expect((await claim(first, 1)).kind).toBe('claimed');
      await other;
      await claim(first, 3);
      expect((await claim(second, 1)).kind).toBe('taken');
      await first.close();
      await second.close();
    });

    it('keeps the result that was durable first, and says in the other run that it is used instead', async () => {
      const { store, first, second, added } = await twoRuns();
      await second.append(callStarted(1));
      await first.append(callStarted(1));
      const { seq, position } = await first.append(callCompleted(1, 'first'));
      const winner = { run: runRef(1).run, seq, position };
      const late = await second.append(callCompleted(1, 'second'));
      expect(late.supersededBy).toEqual(winner);
      await second.append(callStarted(2));
      expect((await second.append(callCompleted(2))).supersededBy).toBeUndefined();
      await second.append(finished);
      await second.close();
      await first.close();
      const superseded: Fact = { type: 'call.superseded', key: keyOf(1), op: opOf(1), of: late.seq, by: { run: winner.run, seq } };
      const { events, defects } = await readRun(store, runRef(2));
      expect(defects).toEqual([]);
      const expected = [started, callStarted(1), callCompleted(1, 'second'), superseded, callStarted(2), callCompleted(2), finished];
      expect(events.map(factOf)).toEqual(expected);
      expect(added).toMatchObject([{ fact: superseded, recorded: { seq: events[3]?.seq, hash: events[3]?.hash } }]);
      expect(await answers()).toMatchObject(
        [
          { key: keyOf(1), run: runRef(1).run, seq },
          { key: keyOf(2), run: runRef(2).run },
        ].sort(byKey),
      );
    });

    it('replaces a result that was refused, and no other one', async () => {
      const { first, second } = await twoRuns();
      await first.append(callStarted(1));
      const { seq } = await first.append(callCompleted(1, 'old'));
      const refused = { run: runRef(1).run, seq };
      expect(await claim(second, 1)).toMatchObject({ kind: 'answered' });
      expect(await claim(second, 1, refused)).toMatchObject({ kind: 'claimed', replaces: refused });
      expect(await claimsOf(second).claim({ key: keyOf(1), isAlone: true })).toMatchObject({ kind: 'claimed', replaces: refused });
      await second.append({ ...callStarted(1), refused } as Fact);
      expect((await second.append(callCompleted(1, 'new'))).supersededBy).toBeUndefined();
      await first.append({ ...callStarted(1), refused } as Fact);
      expect((await first.append(callCompleted(1, 'newer'))).supersededBy).toMatchObject({ run: runRef(2).run });
      await first.close();
      await second.close();
    });

    it('makes the index anew from the journals', async () => {
      const { first, second } = await twoRuns();
      await first.append(callStarted(1));
      await first.append(callCompleted(1, 'naïve — 船 \u0000 "unusable":'));
      for (const n of [1, 2, 3]) await second.append(callStarted(n));
      await second.append(callCompleted(1));
      await second.append(callCompleted(2, { unusable: 'a member of the result' }));
      await second.append({ ...callCompleted(3), unusable: 'its command failed' } as Fact);
      await first.close();
      await second.close();
      const before = await answers();
      expect(before).toHaveLength(2);
      const [row] = await query('select p.name from mlld.projects p order by project_id desc limit 1');
      await query(`select mlld.rebuild('${String(row?.['name'])}')`);
      expect(await answers()).toEqual(before);
    });
  });
}

function byKey(left: { readonly key: string }, right: { readonly key: string }): number {
  return left.key < right.key ? -1 : 1;
}
