/** The offers of one run in the database. What comes while a statement is under way goes together in the next one. team-store.md 7.1. */
import { JournalError } from '../../errors.js';
import { seqOf, type CallKey, type RunId } from '../../ids.js';
import type { RecordedResult } from '../../storage/claims.js';
import type { HintWatch } from '../../storage/hints.js';
import type {
  CallsAtWorkers,
  ExecutingWorker,
  LivingWorkers,
  OfferedResult,
  OfferOutcome,
  OfferRequest,
  Offers,
} from '../../storage/offers.js';
import type { Row, Sql } from '../connection.js';
import { HELD_LINE_BYTES_MAX } from '../read-ahead.js';
import { LINE_END } from '../read-rows.js';
import type { RunRow, RunRows } from '../run-rows.js';

/** A statement takes so many offers at once: each may hold the arguments of its call. */
const OFFERS_MAX = 500;
/** So many don't wait for what this turn of the event loop still brings: workers begin while a long loop makes its other calls. */
const OFFERS_AT_ONCE = 32;
/** A look fetches so many outcomes with their lines. */
const ENDED_MAX = 200;

/** Is committed without a wait for the disk: what a crash of the server brings back has an end or a claim, so that no worker takes it. */
const WITHDRAW = `select mlld.withdraw_offers($1, $2) from pg_catalog.set_config('synchronous_commit', 'off', true)`;

interface Waiting {
  readonly request: OfferRequest;
  resolve(answer: OfferedResult | undefined): void;
  reject(error: unknown): void;
}

export interface OfferHints {
  /** Says that there are offers. */
  send(): void;
  /** Hears of results. */
  watch(): HintWatch;
}

export class RunOffers implements Offers {
  private readonly waiting: Waiting[] = [];
  private isSending = false;
  private readonly withdrawn = new Set<CallKey>();
  private withdrawing: NodeJS.Immediate | undefined;
  private readonly seen = new SeenJournals();
  /** Outcomes whose offers are not withdrawn yet: a call may end before its run has heard that it is offered. */
  private readonly unused = new Map<CallKey, OfferOutcome>();

  constructor(
    private readonly sql: Sql,
    private readonly rows: RunRows,
    private readonly timeoutMs: number,
    private readonly hints: OfferHints,
    /** Keeps the line of a result, which the run reads next. */
    private readonly hold: (place: RecordedResult, row: Row) => void,
  ) {}

  watch(): HintWatch {
    return this.hints.watch();
  }

  offer(request: OfferRequest): Promise<OfferedResult | undefined> {
    this.withdrawn.delete(request.key);
    this.unused.delete(request.key);
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      if (this.waiting.length === 1) setImmediate(() => void this.sendAll());
      else if (this.waiting.length === OFFERS_AT_ONCE) void this.sendAll();
    });
  }

  async collect(): Promise<ReadonlyMap<CallKey, OfferOutcome>> {
    const { row } = this.rows;
    if (row === undefined) return new Map();
    const values = [row.id, JSON.stringify(this.seen.now()), ENDED_MAX, HELD_LINE_BYTES_MAX, LINE_END];
    const found = await this.sql.query('select * from mlld.collect_ended($1, $2, $3, $4, $5)', values, this.timeoutMs);
    this.seen.read(found);
    for (const each of found.filter(({ key }) => key !== null)) {
      const outcome = { ...endedIn(each), kind: 'ended' as const };
      if (each['line'] !== null) this.hold(outcome.by, each);
      this.unused.set(each['key'] as CallKey, outcome);
    }
    return new Map(this.unused);
  }

  async collectAll(): Promise<{ readonly outcomes: ReadonlyMap<CallKey, OfferOutcome>; readonly count: number }> {
    const { row } = this.rows;
    if (row === undefined) return { outcomes: new Map(), count: 0 };
    const found = await this.sql.query(
      `select n.count, c.key, c.state, c.run, c.seq, c.at::float8 as at, c.bytes, c.worker, c.host, c.why
       from (select count(*)::int as count from mlld.offers where run_id = $1) n left join mlld.collect_offers($1) c on true`,
      [row.id],
      this.timeoutMs,
    );
    const ended = found.filter((each) => each['key'] !== null);
    return { outcomes: new Map(ended.map((each) => [each['key'] as CallKey, outcomeIn(each)])), count: Number(found[0]?.['count'] ?? 0) };
  }

  withdraw(key: CallKey): void {
    this.withdrawing ??= setImmediate(() => void this.sendWithdrawn());
    this.withdrawn.add(key);
    this.unused.delete(key);
  }

  async atWorkers(): Promise<CallsAtWorkers> {
    const [found] = await this.sql.query(
      `select count(*)::int as calls, count(distinct c.run_id)::int as workers from mlld.runs w join mlld.claims c on c.run_id = w.run_id
       where w.of_run = $1 and w.role = 'worker' and mlld.is_alive(w.lease_until, w.lease_s)`,
      [this.rows.row?.id ?? null],
      this.timeoutMs,
    );
    return { calls: Number(found?.['calls'] ?? 0), workers: Number(found?.['workers'] ?? 0) };
  }

  async takeBack(keys: readonly CallKey[]): Promise<readonly CallKey[]> {
    const { row } = this.rows;
    if (row === undefined) return [];
    const taken = await this.sql.query(
      `delete from mlld.offers o where o.run_id = $1 and o.key = any ($2::text[]) and o.ended_seq is null
         and not exists (select from mlld.answers a where a.workflow_id = o.workflow_id and a.key = o.key
           and not (a.run_id is not distinct from o.refused_run and a.seq is not distinct from o.refused_seq))
         and not exists (select from mlld.claims c join mlld.runs r on r.run_id = c.run_id
           where c.workflow_id = o.workflow_id and c.key = o.key and r.role = 'worker' and not r.finished
             and mlld.is_alive(r.lease_until, r.lease_s))
       returning o.key`,
      [row.id, keys],
      this.timeoutMs,
    );
    return taken.map((each) => each['key'] as CallKey);
  }

  async workers(): Promise<LivingWorkers> {
    const { row } = this.rows;
    const found = await this.sql.query(
      `select w.worker -> 'lanes' as lanes from mlld.runs w join mlld.workflows f using (workflow_id)
       where w.role = 'worker' and not w.finished and mlld.is_alive(w.lease_until, w.lease_s)
         and f.project_id = (select g.project_id from mlld.runs r join mlld.workflows g using (workflow_id) where r.run_id = $1)`,
      [row?.id ?? null],
      this.timeoutMs,
    );
    return { alive: found.length, lanes: new Set(found.flatMap((each) => Object.keys((each['lanes'] ?? {}) as object))) };
  }

  private async sendAll(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    while (this.waiting.length > 0) await this.send(this.waiting.splice(0, OFFERS_MAX));
    this.isSending = false;
  }

  private async send(sent: readonly Waiting[]): Promise<void> {
    try {
      const { row } = this.rows;
      if (row === undefined) throw new JournalError('STORE_UNREACHABLE', 'the store does not have the run yet');
      const offering = this.sendOffers(
        row,
        sent.map(({ request }) => request),
      );
      this.hints.send(); // goes right behind the offers, and not behind those that come while they are made. HINTS-1
      const answers = await offering;
      for (const { request, resolve } of sent) resolve(answers.get(request.key));
    } catch (error) {
      const reason = await this.rows.refusal(error);
      for (const { reject } of sent) reject(reason);
    }
  }

  private async sendOffers({ id, fence }: RunRow, requests: readonly OfferRequest[]): Promise<ReadonlyMap<CallKey, OfferedResult>> {
    const wanted = requests.map(({ key, lane, call, refused }) => ({
      key,
      lane,
      call,
      ...(refused && { run: refused.run, refused: refused.seq }),
    }));
    const rows = await this.sql.query(
      `select o.key, o.run, o.seq, o.at::float8 as at, o.bytes, w.worker, w.host from mlld.offer($1, $2, $3) o
         left join lateral (select r.worker ->> 'name' as worker, r.host from mlld.runs r
           where r.run = o.run and r.of_run = $1 and r.role = 'worker') w on true`,
      [id, fence, JSON.stringify(wanted)],
      this.timeoutMs,
    );
    return new Map(rows.map((row) => [row['key'] as CallKey, { kind: 'answered', ...endedIn(row) }]));
  }

  /** Offers that can't be withdrawn go with the next ones, or end with the run. */
  private async sendWithdrawn(): Promise<void> {
    this.withdrawing = undefined;
    const keys = [...this.withdrawn];
    this.withdrawn.clear();
    const { row } = this.rows;
    if (row === undefined) return;
    await this.sql.query(WITHDRAW, [row.id, keys], this.timeoutMs).catch(() => {
      for (const key of keys) this.withdrawn.add(key);
    });
  }
}

function placeIn(row: Row): RecordedResult {
  return { run: row['run'] as RunId, seq: seqOf(Number(row['seq'])), position: { offset: Number(row['at']), bytes: Number(row['bytes']) } };
}

/** Messages have these words, and a colleague's SQL may have written them. */
const WORDS_MAX = 500;

function words(value: unknown): string {
  const text = String(value);
  return (text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX)}...` : text).replaceAll(/\p{C}+/gu, ' ');
}

function endedIn(row: Row): { readonly by: RecordedResult; readonly worker: ExecutingWorker | undefined } {
  const { worker: name, host } = row;
  return { by: placeIn(row), worker: typeof name === 'string' ? { name: words(name), host: words(host) } : undefined };
}

function outcomeIn(row: Row): OfferOutcome {
  const { by, worker } = endedIn(row);
  if (row['state'] === 'declined') return { kind: 'declined', worker: worker?.name ?? '', why: words(row['why']) };
  return { kind: row['state'] === 'ended' ? 'ended' : 'answered', by, worker };
}

/** Longer than a run that has offers waits for a look: one that has not looked for so long had none. */
const SEEN_MS = 10_000;

/** Holds up to which event each journal was seen in which results of the offers may be. BY-PLACE-1 */
class SeenJournals {
  private workers: { readonly [run: string]: number } = {};
  private others: { readonly [run: string]: number } = {};
  private lookedMs = -Infinity;

  /** Leaves out what runs that serve others did while this one had no offers. */
  now(): { readonly [run: string]: number } {
    if (performance.now() > this.lookedMs + SEEN_MS) this.others = {};
    return { ...this.workers, ...this.others };
  }

  read(rows: readonly Row[]): void {
    this.lookedMs = performance.now();
    const seenIn = (isWorker: boolean): { readonly [run: string]: number } =>
      Object.fromEntries(rows.filter((row) => row['is_worker'] === isWorker).map((row) => [String(row['of_run']), Number(row['seen'])]));
    this.workers = seenIn(true);
    this.others = seenIn(false);
  }
}
