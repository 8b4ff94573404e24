/**
 * Claims calls in the database. Requests that come together go in one statement, whose commit is synced: a claim that a crash of the
 * server forgot would let two machines execute one call.
 *
 * CLAIM-ROWS-1 A claim is sure while the lease of its run has not lapsed since the statement that made it was handed over, and has not
 *    run out (`OwnLease`). One that is unsure is claimed again, in a statement that renews the lease as well: both hold, or neither.
 * CLAIM-ROWS-2 A run takes no call that it gives back, or that has ended, until the server has freed it: else the statement that frees the
 *    call would free the new claim as well, and another run would execute the call beside this one.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Claimed, ClaimRequest, Claims, RecordedResult } from '../../storage/claims.js';
import type { HintWatch } from '../../storage/hints.js';
import { JournalError } from '../../errors.js';
import { seqOf, type CallKey, type RunId } from '../../ids.js';
import type { Row, Sql } from '../connection.js';
import type { RunRow, RunRows } from '../run-rows.js';
import { momentNow } from './own-lease.js';

interface Waiting {
  readonly request: ClaimRequest;
  resolve(claimed: Claimed): void;
  reject(error: unknown): void;
}

/** The claims of all runs of a process. */
export class ClaimRows {
  constructor(
    private readonly sql: Sql,
    readonly timeoutMs: number,
  ) {}

  async claim(run: RunRow, requests: readonly ClaimRequest[]): Promise<ReadonlyMap<CallKey, Claimed>> {
    return this.ask(`select ${CLAIMED} from mlld.claim($1, $2, $3) c`, run, requests);
  }

  /** Says nothing of the calls where the run was sealed. CLAIM-ROWS-1 */
  async claimAgain(run: RunRow, requests: readonly ClaimRequest[]): Promise<ReadonlyMap<CallKey, Claimed>> {
    return this.ask(RENEWED_AND_CLAIMED, run, requests);
  }

  private async ask(statement: string, { id, fence }: RunRow, requests: readonly ClaimRequest[]): Promise<ReadonlyMap<CallKey, Claimed>> {
    const wanted = requests.map(({ key, refused, isAlone }) => ({
      key,
      ...(refused && { run: refused.run, refused: refused.seq }),
      ...(isAlone === true && { alone: true }),
    }));
    const rows = await this.sql.query(statement, [id, fence, JSON.stringify(wanted)], this.timeoutMs);
    return new Map(rows.map((row) => [row['key'] as CallKey, claimedIn(row)]));
  }

  async isLost({ id }: RunRow, run: RunId): Promise<boolean> {
    const [found] = await this.sql.query(
      `select not r.finished and not mlld.is_alive(r.lease_until, r.lease_s) as "isLost"
       from mlld.runs own join mlld.runs r using (workflow_id) where own.run_id = $1 and r.run = $2`,
      [id, run],
      this.timeoutMs,
    );
    return found?.['isLost'] === true;
  }

  async giveBack({ id }: RunRow, keys: readonly CallKey[]): Promise<void> {
    await this.sql.query('delete from mlld.claims where run_id = $1 and key = any ($2::text[])', [id, keys], this.timeoutMs);
  }
}

const CLAIMED = 'c.key, c.state, c.run, c.seq, c.at::float8 as at, c.bytes, c.host';
/** The row of the run is locked first, as by an append. */
const RENEWED_AND_CLAIMED = `with renewed as materialized (
    update mlld.runs set lease_until = clock_timestamp() + make_interval(secs => lease_s) where run_id = $1 and fence = $2
    returning run_id, fence)
  select ${CLAIMED} from renewed r cross join lateral mlld.claim(r.run_id, r.fence, $3) c`;

function claimedIn(row: Row): Claimed {
  const run = row['run'] as RunId;
  const result: RecordedResult | undefined =
    row['seq'] === null
      ? undefined
      : { run, seq: seqOf(Number(row['seq'])), position: { offset: Number(row['at']), bytes: Number(row['bytes']) } };
  if (row['state'] === 'taken') return { kind: 'taken', run, host: String(row['host'] ?? '') };
  return row['state'] === 'answered' && result !== undefined ? { kind: 'answered', by: result } : { kind: 'claimed', replaces: result };
}

/** The hints that processes give each other about the calls of a workflow. */
export interface CallHints {
  send(): void;
  watch(): HintWatch;
}

/** No number of lapses: for a claim that is claimed again before its call begins. */
const UNSURE = -1;

/** The claims of one run. */
export class RunClaims implements Claims {
  private waiting: Waiting[] = [];
  /** Given back, and not freed yet as far as this process knows. CLAIM-ROWS-2 */
  private readonly returned = new Set<CallKey>();
  private returning: Promise<void> | undefined;
  /** Ended, in lines that the server does not have yet. Those of workers are kept by `ServedRun`. CLAIM-ROWS-2 */
  private readonly ending = new Map<CallKey, Promise<void>>();
  /** With the number of lapses of the lease at which each was claimed. CLAIM-ROWS-1 */
  private readonly held = new Map<CallKey, number>();
  private refused: JournalError | undefined;

  constructor(
    private readonly claiming: ClaimRows,
    private readonly rows: RunRows,
    readonly waitMs: number,
    private readonly hints: CallHints,
  ) {}

  watch(): HintWatch {
    return this.hints.watch();
  }

  /** No further call may begin: the lease of the run, and its claims with it, can't be renewed. */
  refuse(error: JournalError): void {
    this.refused ??= error;
  }

  get refusedBy(): JournalError | undefined {
    return this.refused;
  }

  claim(request: ClaimRequest): Promise<Claimed> {
    if (this.refused !== undefined) return Promise.reject(this.refused);
    const ending = this.ending.get(request.key);
    if (ending) return this.claimBehind(ending, request);
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => void this.send());
      this.waiting.push({ request, resolve, reject });
    });
  }

  async isLost(run: RunId): Promise<boolean> {
    const { row } = this.rows;
    return row !== undefined && this.claiming.isLost(row, run);
  }

  /** The calls that this run must not take: it holds them, or gives them back. */
  get keys(): readonly CallKey[] {
    return [...this.held.keys(), ...this.returned];
  }

  holds(key: CallKey): boolean {
    return this.held.has(key);
  }

  /** The claim was made with an offer that this run took; `lapses` are those of its lease when it was about to take. */
  hold(key: CallKey, lapses = UNSURE): void {
    this.held.set(key, lapses);
  }

  mayBeLost(key: CallKey): boolean {
    const { lease } = this.rows;
    const lapses = this.held.get(key);
    return lapses !== undefined && (lapses !== lease.lapses || lease.mayBeOver);
  }

  async claimAgain(request: ClaimRequest): Promise<Claimed> {
    if (this.refused !== undefined) throw this.refused;
    const { key } = request;
    const { row, lease } = this.rows;
    if (row === undefined) throw new JournalError('STORE_UNREACHABLE', 'the store does not have the run yet');
    const sent = momentNow();
    const claimed = (await this.claiming.claimAgain(row, [request])).get(key);
    if (claimed === undefined) throw this.rows.sealed();
    lease.acknowledged(sent);
    if (claimed.kind !== 'claimed') this.held.delete(key);
    else this.held.set(key, lease.isWithin(sent) ? lease.lapses : UNSURE);
    return claimed;
  }

  /** The end of the call is appended, which frees it once the server has that line: `committed` where nobody waits for it otherwise. */
  ended(key: CallKey, committed: Promise<unknown> | undefined): void {
    this.held.delete(key);
    if (committed === undefined) return;
    const freed = (): void => {
      if (this.ending.get(key) === ending) this.ending.delete(key);
    };
    const ending = committed.then(freed, freed); // whoever claims next learns why it failed
    this.ending.set(key, ending);
  }

  giveBack(key: CallKey): void {
    if (!this.held.delete(key)) return;
    this.returned.add(key);
    this.freeReturned();
  }

  private async claimBehind(ending: Promise<void>, request: ClaimRequest): Promise<Claimed> {
    const given = new AbortController();
    const late = sleep(this.claiming.timeoutMs, true, { signal: given.signal }).catch(() => true);
    const isLate = await Promise.race([ending.then(() => false), late]);
    given.abort();
    if (isLate) throw new JournalError('STORE_UNREACHABLE', 'the store does not have the end of the call yet');
    return this.claim(request);
  }

  private async send(): Promise<void> {
    const sent = this.waiting;
    this.waiting = [];
    const { lapses } = this.rows.lease;
    try {
      const { row } = this.rows;
      if (row === undefined) throw new JournalError('STORE_UNREACHABLE', 'the store does not have the run yet');
      if (sent.some(({ request }) => this.returned.has(request.key))) await this.sendBack();
      const claimed = await this.claiming.claim(
        row,
        sent.map(({ request }) => request),
      );
      for (const { request, resolve, reject } of sent) {
        const answer = claimed.get(request.key);
        if (answer === undefined) reject(new JournalError('STORE_UNREACHABLE', 'the store did not answer for each call'));
        else resolve(answer);
        if (answer?.kind === 'claimed') this.held.set(request.key, lapses);
      }
    } catch (error) {
      const reason = await this.rows.refusal(error);
      for (const { reject } of sent) reject(reason);
    }
  }

  /** A claim that can't be given back now is tried again with the next look for calls; it lasts until the run ends, or its lease. */
  freeReturned(): void {
    if (this.returned.size > 0) this.sendBack().catch(() => undefined);
  }

  private sendBack(): Promise<void> {
    this.returning ??= this.sendAllBack().finally(() => (this.returning = undefined));
    return this.returning;
  }

  private async sendAllBack(): Promise<void> {
    await nextTurn(); // those that are given back together go in one statement
    const { row } = this.rows;
    if (row === undefined) return; // the server has no claims of it either
    while (this.returned.size > 0) {
      const keys = [...this.returned];
      await this.claiming.giveBack(row, keys);
      for (const key of keys) this.returned.delete(key);
      this.hints.send();
    }
  }
}
