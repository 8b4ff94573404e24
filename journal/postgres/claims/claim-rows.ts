/**
 * Claims calls in the database. Requests that come together go in one statement, whose commit is synced: a claim that a crash of the
 * server forgot would let two machines execute one call.
 */
import type { Claimed, ClaimRequest, Claims, RecordedResult } from '../../storage/claims.js';
import type { HintWatch } from '../../storage/hints.js';
import { JournalError } from '../../errors.js';
import { seqOf, type CallKey, type RunId } from '../../ids.js';
import type { Row, Sql } from '../connection.js';
import type { RunRow, RunRows } from '../run-rows.js';
import { SEALED_STATE, stateBehind } from '../store-errors.js';

interface Waiting {
  readonly request: ClaimRequest;
  resolve(claimed: Claimed): void;
  reject(error: unknown): void;
}

/** The claims of all runs of a process. */
export class ClaimRows {
  constructor(
    private readonly sql: Sql,
    private readonly timeoutMs: number,
  ) {}

  async claim({ id, fence }: RunRow, requests: readonly ClaimRequest[]): Promise<ReadonlyMap<CallKey, Claimed>> {
    const wanted = requests.map(({ key, refused, isAlone }) => ({
      key,
      ...(refused && { run: refused.run, refused: refused.seq }),
      ...(isAlone === true && { alone: true }),
    }));
    const rows = await this.sql.query(
      'select key, state, run, seq, at::float8 as at, bytes, host from mlld.claim($1, $2, $3)',
      [id, fence, JSON.stringify(wanted)],
      this.timeoutMs,
    );
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

/** The claims of one run. */
export class RunClaims implements Claims {
  private waiting: Waiting[] = [];
  private returned: CallKey[] = [];
  private readonly held = new Set<CallKey>();
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
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => void this.send());
      this.waiting.push({ request, resolve, reject });
    });
  }

  async isLost(run: RunId): Promise<boolean> {
    const { row } = this.rows;
    return row !== undefined && this.claiming.isLost(row, run);
  }

  get keys(): readonly CallKey[] {
    return [...this.held];
  }

  /** The claim was made with an offer that this run took. */
  hold(key: CallKey): void {
    this.held.add(key);
  }

  /** The end of the call is appended, which frees it. */
  ended(key: CallKey): void {
    this.held.delete(key);
  }

  giveBack(key: CallKey): void {
    if (!this.held.delete(key)) return;
    if (this.returned.length === 0) setImmediate(() => void this.sendBack());
    this.returned.push(key);
  }

  private async send(): Promise<void> {
    const sent = this.waiting;
    this.waiting = [];
    try {
      const { row } = this.rows;
      if (row === undefined) throw new JournalError('STORE_UNREACHABLE', 'the store does not have the run yet');
      const claimed = await this.claiming.claim(
        row,
        sent.map(({ request }) => request),
      );
      for (const { request, resolve, reject } of sent) {
        const answer = claimed.get(request.key);
        if (answer === undefined) reject(new JournalError('STORE_UNREACHABLE', 'the store did not answer for each call'));
        else resolve(answer);
        if (answer?.kind === 'claimed') this.held.add(request.key);
      }
    } catch (error) {
      const reason = stateBehind(error) === SEALED_STATE ? this.rows.sealed() : error;
      for (const { reject } of sent) reject(reason);
    }
  }

  /** A claim that can't be given back lasts until the run ends, or its lease. */
  private async sendBack(): Promise<void> {
    const keys = this.returned;
    this.returned = [];
    const { row } = this.rows;
    if (row === undefined) return;
    await this.claiming.giveBack(row, keys).then(
      () => this.hints.send(),
      () => undefined,
    );
  }
}
