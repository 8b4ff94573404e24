/**
 * Sends hints to other processes, and hears theirs, by `notify` and `listen` on the second connection. team-store.md 11.
 *
 * HINTS-1 A hint goes out behind the commit that it is about, never inside: a transaction that has notified keeps others from sharing its
 *    sync. A process sends a hint of a kind at once, and the next ones of that kind so much later (`REST_MS`).
 * HINTS-2 A hint holds no data and may be lost: at a connection that is opened again, behind PgBouncer, where it is turned off, and with a
 *    process that is killed before it sends. So whoever waits looks from time to time as well.
 * HINTS-3 A process hears nothing of what came before the server was asked to `listen`. So everybody who waits looks once when it has been.
 */
import type { Workflow } from '../../ids.js';
import type { Hint, Hints, HintWatch } from '../../storage/hints.js';
import type { Sql, SqlClient } from '../connection.js';

/** Results may wait longer: a run that finds some looks again by itself, and each hint wakes every process of the workflow. */
const REST_MS: { readonly [hint in Hint]: number } = { results: 100, offers: 20 };
const PAYLOADS: { readonly [hint in Hint]: string } = { results: 'a', offers: 'o' };
/** Nothing waits for a hint to be on the disk of the server. */
const NOTIFY = `select pg_catalog.set_config('synchronous_commit', 'off', true), pg_catalog.pg_notify('mlld_' || w.workflow_id, $3)
  from mlld.projects p join mlld.workflows w using (project_id) where p.name = $1 and w.path = any ($2::text[])`;

const CHANNEL = `select 'mlld_' || w.workflow_id as channel from mlld.workflows w join mlld.projects p using (project_id)
  where p.name = $1 and w.path = $2`;

/** Hints of a kind that wait to be sent. */
interface Outgoing {
  readonly workflows: Set<Workflow>;
  timer: NodeJS.Timeout | undefined;
  sentMs: number;
}

const newOutgoing = (): Outgoing => ({ workflows: new Set(), timer: undefined, sentMs: -Infinity });

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
  /** The workflows that somebody has waited for, and those of them whose channel is known, by its name. */
  private readonly followed = new Set<Workflow>();
  private readonly channels = new Map<string, Workflow>();
  private readonly outgoing: { readonly [hint in Hint]: Outgoing } = { results: newOutgoing(), offers: newOutgoing() };

  constructor(private readonly ports: PgHintsPorts) {}

  send(workflow: Workflow, hint: Hint): void {
    if (!this.ports.isOn) return;
    const outgoing = this.outgoing[hint];
    outgoing.workflows.add(workflow);
    outgoing.timer ??= setTimeout(() => this.sendNow(hint), Math.max(0, outgoing.sentMs + REST_MS[hint] - performance.now()));
  }

  watch(workflow: Workflow, hint: Hint): HintWatch {
    const watch = new Watch(workflow, PAYLOADS[hint], () => this.watches.delete(watch));
    this.watches.add(watch);
    if (this.ports.isOn) void this.listen(workflow);
    return watch;
  }

  /** Must be called with each connection that is opened, before it is used. HINTS-3 */
  async attach(client: SqlClient): Promise<void> {
    client.onNotification?.((channel, payload) => this.heard(channel, payload));
    if (this.channels.size === 0) return;
    await client.query([...this.channels.keys()].map((channel) => `listen ${channel}`).join(';'), undefined, this.ports.timeoutMs);
    for (const watch of this.watches) watch.wake();
  }

  /** Sends nothing any more. */
  leave(): void {
    for (const { timer, workflows } of Object.values(this.outgoing)) {
      clearTimeout(timer);
      workflows.clear();
    }
  }

  /** HINTS-1 */
  private sendNow(hint: Hint): void {
    const outgoing = this.outgoing[hint];
    const workflows = [...outgoing.workflows];
    outgoing.workflows.clear();
    outgoing.timer = undefined;
    outgoing.sentMs = performance.now();
    const { sql, project, timeoutMs } = this.ports;
    void sql.query(NOTIFY, [project, workflows, PAYLOADS[hint]], timeoutMs).catch(() => undefined); // HINTS-2
  }

  private async listen(workflow: Workflow): Promise<void> {
    if (this.followed.has(workflow)) return;
    this.followed.add(workflow);
    const { sql, project, timeoutMs } = this.ports;
    try {
      const [found] = await sql.query(CHANNEL, [project, workflow], timeoutMs);
      if (found === undefined) throw new Error('the store has no run of the workflow yet');
      const channel = String(found['channel']);
      this.channels.set(channel, workflow);
      await sql.query(`listen ${channel}`, undefined, timeoutMs);
      for (const watch of this.watches) if (watch.workflow === workflow) watch.wake(); // HINTS-3
    } catch {
      this.followed.delete(workflow); // HINTS-2: the next watch tries again
    }
  }

  private heard(channel: string, payload: string): void {
    const workflow = this.channels.get(channel);
    for (const watch of this.watches) if (watch.workflow === workflow && watch.payload === payload) watch.wake();
  }
}

class Watch implements HintWatch {
  /** A hint came that nobody has waited for yet. */
  private isDue = false;
  private onWake: (() => void) | undefined;

  constructor(
    readonly workflow: Workflow,
    readonly payload: string,
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
