/**
 * Sends hints to other processes, and hears theirs, by `notify` and `listen` on the second connection. team-store.md 11.
 *
 * HINTS-1 A hint goes out behind the commit that it is about, never inside: a transaction that has notified keeps others from sharing its
 *    sync. A process sends a hint at once, and the next ones of its kind so much later (`Pacer`).
 * HINTS-2 A hint holds no data and may be lost: at a connection that is opened again, behind PgBouncer, where it is turned off, and with a
 *    process that is killed before it sends. So whoever waits looks from time to time as well.
 * HINTS-3 A process hears nothing of what came before the server was asked to `listen`. So everybody who waits looks once when it has been.
 */
import type { Workflow } from '../../ids.js';
import { sha256Hex } from '../../sha256.js';
import { OFFERS, type Hints, type HintWatch, type Topic } from '../../storage/hints.js';
import type { Sql, SqlClient } from '../connection.js';

/** An identifier has at most 63 bytes. */
const CHANNEL_DIGITS = 40;
/** Results may wait longer: a run that finds some looks again by itself, and each hint wakes every process of the workflow. */
const RESULTS_REST_MS = 100;
const OFFERS_REST_MS = 20;
/** Nothing waits for a hint to be on the disk of the server. */
const NOTIFY = `select pg_catalog.set_config('synchronous_commit', 'off', true)`;
const NOTIFY_RESULTS = `${NOTIFY}, pg_catalog.pg_notify('mlld_' || w.workflow_id, '')
  from mlld.projects p join mlld.workflows w using (project_id) where p.name = $1 and w.path = any ($2::text[])`;
const NOTIFY_OFFERS = `${NOTIFY}, pg_catalog.pg_notify($1, '')`;

const CHANNEL = `select 'mlld_' || w.workflow_id as channel from mlld.workflows w join mlld.projects p using (project_id)
  where p.name = $1 and w.path = $2`;

interface PgHintsPorts {
  /** The connection that listens as well. */
  readonly sql: Sql;
  readonly project: string;
  /** False: nothing is sent and nothing is heard (`MLLD_STORE_NOTIFY=off`). */
  readonly isOn: boolean;
  /** A statement that takes longer counts as lost. */
  readonly timeoutMs: number;
}

export class PgHints implements Hints {
  private readonly watches = new Set<Watch>();
  /** The topics that somebody has waited for, and those of them whose channel is known, by its name. */
  private readonly followed = new Set<Topic>();
  private readonly channels = new Map<string, Topic>();
  private readonly ended = new Set<Workflow>();
  private readonly results = new Pacer(RESULTS_REST_MS, () => {
    this.notify(NOTIFY_RESULTS, [this.ports.project, [...this.ended]]);
    this.ended.clear();
  });
  private readonly offers = new Pacer(OFFERS_REST_MS, () => this.notify(NOTIFY_OFFERS, [this.offersChannel]));

  constructor(private readonly ports: PgHintsPorts) {}

  send(topic: Topic): void {
    if (!this.ports.isOn) return;
    if (topic !== OFFERS) this.ended.add(topic);
    (topic === OFFERS ? this.offers : this.results).request();
  }

  watch(topic: Topic): HintWatch {
    const watch = new Watch(topic, () => this.watches.delete(watch));
    this.watches.add(watch);
    if (this.ports.isOn) void this.listen(topic);
    return watch;
  }

  /** Must be called with each connection that is opened, before it is used. HINTS-3 */
  async attach(client: SqlClient): Promise<void> {
    client.onNotification?.((channel) => this.wake(this.channels.get(channel)));
    if (this.channels.size === 0) return;
    await client.query([...this.channels.keys()].map((channel) => `listen ${channel}`).join(';'), undefined, this.ports.timeoutMs);
    for (const watch of this.watches) watch.wake();
  }

  /** Sends nothing any more. */
  leave(): void {
    this.results.stop();
    this.offers.stop();
  }

  /** Does not depend on rows of the project, which may not have had a run yet when the first worker listens. */
  private get offersChannel(): string {
    return `mlld_offers_${sha256Hex(this.ports.project).slice(0, CHANNEL_DIGITS)}`;
  }

  private notify(statement: string, values: readonly unknown[]): void {
    const { sql, timeoutMs } = this.ports;
    void sql.query(statement, values, timeoutMs).catch(() => undefined); // HINTS-2
  }

  private async listen(topic: Topic): Promise<void> {
    if (this.followed.has(topic)) return;
    this.followed.add(topic);
    try {
      const channel = topic === OFFERS ? this.offersChannel : await this.channelOf(topic);
      this.channels.set(channel, topic);
      await this.ports.sql.query(`listen ${channel}`, undefined, this.ports.timeoutMs);
      this.wake(topic); // HINTS-3
    } catch {
      this.followed.delete(topic); // HINTS-2: the next watch tries again, and each new connection where the channel is known
    }
  }

  private async channelOf(workflow: Workflow): Promise<string> {
    const { sql, project, timeoutMs } = this.ports;
    const [found] = await sql.query(CHANNEL, [project, workflow], timeoutMs);
    if (found === undefined) throw new Error('the store has no run of the workflow yet');
    return String(found['channel']);
  }

  private wake(topic: Topic | undefined): void {
    for (const watch of this.watches) if (watch.topic === topic) watch.wake();
  }
}

/** Sends at once, and what comes within the rest that follows together at its end. HINTS-1 */
class Pacer {
  private timer: NodeJS.Timeout | undefined;
  private sentMs = -Infinity;

  constructor(
    private readonly restMs: number,
    private readonly send: () => void,
  ) {}

  request(): void {
    if (this.timer !== undefined) return;
    const restMs = this.sentMs + this.restMs - performance.now();
    if (restMs <= 0) this.sendNow();
    else this.timer = setTimeout(() => this.sendNow(), restMs);
  }

  private sendNow(): void {
    this.timer = undefined;
    this.sentMs = performance.now();
    this.send();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

class Watch implements HintWatch {
  /** A hint came that nobody has waited for yet. */
  private isDue = false;
  private onWake: (() => void) | undefined;

  constructor(
    readonly topic: Topic,
    readonly close: () => void,
  ) {}

  wake(): void {
    this.isDue = true;
    this.onWake?.();
  }

  async wait(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (!this.isDue && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', end);
          this.onWake = undefined;
          resolve();
        };
        const timer = setTimeout(end, ms);
        signal?.addEventListener('abort', end);
        this.onWake = end;
      });
    }
    const wasDue = this.isDue;
    this.isDue = false;
    return wasDue;
  }
}
