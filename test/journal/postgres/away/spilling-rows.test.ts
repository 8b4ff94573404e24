/** No caller waits for ever, whatever breaks at whichever step, and each fact is recorded once. team-store.md 4.3, 4.4. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Row, Sql } from '../../../../journal/postgres/connection.js';
import { ClaimRows, RunClaims } from '../../../../journal/postgres/claims/claim-rows.js';
import { OwnLease } from '../../../../journal/postgres/claims/own-lease.js';
import { NO_LINES, type Head } from '../../../../journal/postgres/lines.js';
import { RunRows } from '../../../../journal/postgres/run-rows.js';
import type { Salvage } from '../../../../journal/postgres/salvage/salvage-run.js';
import { readSpill, SpillFile } from '../../../../journal/postgres/spill/spill-file.js';
import { SpillingRows } from '../../../../journal/postgres/spill/spilling-rows.js';
import { storeError } from '../../../../journal/postgres/store-errors.js';
import { TeamJournal } from '../../../../journal/postgres/team-journal.js';
import type { Fact, JournalEvent } from '../../../../journal/event.js';
import { realDisk, type Disk } from '../../../../journal/storage/disk.js';
import { RunWriter } from '../../../../journal/writer.js';
import { failingDisk } from '../../support/failing-disk.js';
import { callCompleted, callStarted, finished, opStarted, runRef, started } from '../../support/facts.js';
import { temporaryFolder } from '../../support/folder.js';
import { factOf } from '../../support/read.js';

type Trouble = 'before' | 'behind' | 'away' | 'gone' | 'sealed';

/** Keeps one run in memory as the database does, and breaks at its n-th statement. */
class Server implements Sql {
  head: Head = NO_LINES;
  lines: string[] = [];
  fence = 0;
  statements = 0;
  isAway = false;
  /** Statements while it was away. */
  refused = 0;
  /** Statements wait for it. */
  gate: Promise<void> | undefined;

  constructor(
    private readonly n: number,
    private readonly trouble: Trouble,
  ) {}

  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const nth = ++this.statements;
    await new Promise((resolve) => setImmediate(resolve));
    await this.gate;
    if (this.isAway) {
      this.refused++;
      throw lost();
    }
    const isStruck = nth === this.n;
    if (isStruck && this.trouble === 'sealed') this.fence++;
    const isAway = this.trouble === 'gone' ? nth >= this.n : this.trouble === 'away' && nth >= this.n && nth < this.n + 3;
    if (isAway || (isStruck && this.trouble === 'before')) throw lost();
    const rows = text.startsWith('select fence') ? [{ fence: this.fence, ...this.head }] : this.append(values);
    if (isStruck && this.trouble === 'behind') throw lost();
    return rows;
  }

  private append([, fence, seq, hash, text, ats, offset, newHash]: readonly unknown[]): readonly Row[] {
    if (fence !== this.fence) throw state('ML001');
    if (seq !== this.head.seq || hash !== this.head.hash) throw state('ML002');
    this.lines.push(...String(text).split('\n'));
    this.head = { seq: seq + String(ats).split(',').length, offset: Number(offset), hash: String(newHash) };
    return [];
  }
}

const lost = (): Error => state('ECONNRESET');

function state(code: string): Error {
  return storeError(Object.assign(new Error(code), { code }), 'postgres://made.up');
}

interface Opened {
  readonly journal: TeamJournal;
  readonly server: Server;
  readonly salvaged: JournalEvent[];
  readonly folder: string;
}

function open(
  n: number,
  trouble: Trouble,
  { waitMs = 20_000, disk = realDisk }: { waitMs?: number; disk?: Disk | undefined } = {},
): Opened {
  const server = new Server(n, trouble);
  const folder = temporaryFolder();
  const salvaged: JournalEvent[] = [];
  const salvage: Salvage = {
    async take(pieces) {
      for (const line of Buffer.concat(pieces).toString().split('\n')) if (line !== '') salvaged.push(JSON.parse(line) as JournalEvent);
    },
    close: async () => undefined,
  };
  const rows = new RunRows({
    ref: runRef(1),
    sql: server,
    timeoutMs: 1000,
    begin: async () => ({ id: '1', fence: 0 }),
    lease: new OwnLease(200),
  });
  const newSpill = (head: Head): SpillFile =>
    new SpillFile(disk, { folder }, { store: 'a-store', project: 'p', ref: runRef(1), fence: 0, head });
  const sink = new SpillingRows({ rows, leaseMs: 200, waitMs, onOutage: undefined, newSpill, newSalvage: () => salvage });
  const writer = new RunWriter(runRef(1), sink, async () => undefined);
  const claims = new RunClaims(new ClaimRows(server, 1000), rows, waitMs, {
    send: () => undefined,
    watch: () => expect.fail('no call is taken'),
  });
  return { journal: new TeamJournal(writer, sink, claims, {}), server, salvaged, folder };
}

/** Appends as a run with two lanes does, with posts and flushes in between. Returns the calls whose ends were acknowledged. */
async function record(journal: TeamJournal, posted: Fact[]): Promise<readonly number[]> {
  const acknowledged: number[] = [];
  const post = (n: number): void => {
    posted.push(opStarted(n));
    journal.post(opStarted(n));
  };
  const call = async (n: number): Promise<void> => {
    await journal.append(callStarted(n));
    post(n);
    const flushed = journal.flush();
    post(n + 100);
    await Promise.all([flushed, journal.append(callCompleted(n)).then(() => acknowledged.push(n))]);
  };
  const lane = async (calls: readonly number[]): Promise<void> => {
    for (const n of calls) await call(n);
  };
  await journal.append(started);
  await Promise.allSettled([lane([1, 2, 3]), lane([11, 12])]);
  await journal.append(finished).catch(() => undefined);
  return acknowledged;
}

const STEPS = Array.from({ length: 10 }, (_, n) => n + 1);
/** The facts without their order among lanes. */
const texts = (facts: readonly unknown[]): string[] => facts.map((fact) => JSON.stringify(fact)).sort();
const recordedIn = (lines: readonly string[]): Fact[] => lines.map((line) => factOf(JSON.parse(line) as JournalEvent) as Fact);

async function spilledIn(folder: string): Promise<readonly JournalEvent[]> {
  const names = await readdir(join(folder, 'a-store')).catch(() => [] as string[]);
  const [name] = names.filter((each) => each.endsWith('.ndjson'));
  if (name === undefined) return [];
  const path = join(folder, 'a-store', name);
  const disk: Disk = {
    ...realDisk,
    readWhole: async (file) => Buffer.from((await realDisk.readWhole(file)).toString().replace(/"boot":"[^"]*"/, '"boot":"another"')),
  };
  return (await readSpill(disk, path))?.lines.map(({ event }) => event) ?? [];
}

describe('lines on their way to the database', () => {
  it('are sent when they come in the moment in which nothing else is left to send', async () => {
    const { journal, server, folder } = open(Infinity, 'before');
    await journal.append(started);
    for (let n = 1; n < 10; n++) {
      const before = server.statements;
      let open = (): void => {};
      server.gate = new Promise((resolve) => (open = resolve));
      const appended = journal.append(callStarted(n));
      await vi.waitFor(() => expect(server.statements).toBeGreaterThan(before));
      journal.post(opStarted(n)); // while the line of the call is on its way
      const flushed = journal.flush();
      server.gate = undefined;
      open();
      await Promise.all([flushed, appended]);
      expect(server.lines).toHaveLength(1 + 2 * n);
    }
    await journal.close();
    expect(await spilledIn(folder)).toEqual([]);
  });

  it('lie in a spill without a gap when the server was back and lost again while the own disk was slow', async () => {
    const held: (() => void)[] = [];
    let isSlow = true;
    const disk: Disk = { ...realDisk, sync: (file, done) => (isSlow ? held.push(() => done(null)) : setImmediate(() => done(null))) };
    const { journal, server, folder } = open(Infinity, 'before', { disk });
    const away = async (isAway: boolean): Promise<void> => {
      server.isAway = isAway;
      const { refused } = server;
      if (isAway) await vi.waitFor(() => expect(server.refused).toBeGreaterThan(refused));
    };
    await journal.append(started);
    await journal.append(callStarted(1));
    const appended = [journal.append(callCompleted(1))];
    await away(true);
    appended.push(journal.append(callCompleted(2))); // while the one before is on its way to the own disk
    await away(true);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    await away(false);
    await Promise.all(appended); // by the server, which is back
    const second = journal.append(callCompleted(3));
    await away(true);
    isSlow = false;
    held[0]?.();
    await second;
    expect((await spilledIn(folder)).map(factOf)).toEqual([callCompleted(3)]);
    server.isAway = false;
    await journal.close();
    expect(recordedIn(server.lines)).toEqual([started, callStarted(1), callCompleted(1), callCompleted(2), callCompleted(3)]);
    expect(await spilledIn(folder)).toEqual([]);
  });

  it.each(STEPS.flatMap((n) => (['before', 'behind', 'away'] as const).map((trouble) => ({ n, trouble }))))(
    'are recorded once each when the connection breaks $trouble statement $n',
    async ({ n, trouble }) => {
      const { journal, server, folder } = open(n, trouble);
      const posted: Fact[] = [];
      expect([...(await record(journal, posted))].sort((left, right) => left - right)).toEqual([1, 2, 3, 11, 12]);
      await journal.close();
      const calls = [1, 2, 3, 11, 12].flatMap((call) => [callStarted(call), callCompleted(call)]);
      expect(texts(recordedIn(server.lines))).toEqual(texts([started, ...posted, ...calls, finished]));
      expect(await spilledIn(folder)).toEqual([]);
    },
  );

  it.each(STEPS.map((n) => ({ n })))('are in the spill from where the server was lost for good at statement $n', async ({ n }) => {
    const { journal, server, folder } = open(n, 'gone', { waitMs: 60 });
    const posted: Fact[] = [];
    const acknowledged = await record(journal, posted);
    const closing = journal.close();
    if (server.statements < n) return closing; // it was over before
    await expect(closing).rejects.toMatchObject({ code: 'STORE_SPILLED' });
    const spilled = await spilledIn(folder);
    const events = [...server.lines.map((line) => JSON.parse(line) as JournalEvent), ...spilled];
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, seq) => seq));
    const ends = events.filter(({ type }) => type === 'call.completed').map(factOf);
    expect(texts(ends)).toEqual(expect.arrayContaining(texts(acknowledged.map((call) => callCompleted(call)))));
    expect(events.at(-1)).toMatchObject({ type: 'run.finished' });
  });

  it.each(STEPS.map((n) => ({ n })))('are the end of a call in a salvage run when the run is sealed at statement $n', async ({ n }) => {
    const { journal, server, salvaged } = open(n, 'sealed');
    const acknowledged = await record(journal, []);
    const closing = journal.close();
    if (server.fence === 0) return closing;
    await expect(closing).rejects.toMatchObject({ code: 'STORE_SEALED' });
    const kept = [...recordedIn(server.lines), ...salvaged.map((event) => factOf(event) as Fact)].filter(
      ({ type }) => type === 'call.completed',
    );
    expect(texts(kept)).toEqual(expect.arrayContaining(texts(acknowledged.map((call) => callCompleted(call)))));
  });

  it.each(STEPS.flatMap((n) => (['ENOSPC', 'full'] as const).map((trouble) => ({ n, trouble }))))(
    'are recorded once each when the own disk fails as well ($trouble at call $n)',
    async ({ n, trouble }) => {
      const { disk } = failingDisk(n, trouble);
      const { journal, server } = open(4, 'away', { disk });
      const posted: Fact[] = [];
      expect(await record(journal, posted)).toHaveLength(5);
      await journal.close();
      expect(server.lines).toHaveLength(12 + posted.length);
    },
  );

  it.each(STEPS.map((n) => ({ n })))(
    'fail, and keep nobody waiting, when neither server nor own disk takes them (call $n)',
    async ({ n }) => {
      const { disk } = failingDisk(n, 'full');
      const { journal, server } = open(4, 'gone', { waitMs: 60, disk });
      await record(journal, []);
      await expect(journal.close()).rejects.toMatchObject({ code: expect.stringMatching(/STORE_(SPILLED|UNREACHABLE)/) });
      expect(server.statements).toBeGreaterThan(3);
    },
  );
});

describe('WRITER-11', () => {
  it('appends what ends in one turn of the event loop together', async () => {
    const { journal, server } = open(0, 'before');
    await journal.append(started);
    for (const n of [1, 2, 3]) await journal.append(callStarted(n));
    const { statements } = server;
    const end = async (n: number): Promise<void> => {
      await new Promise<void>((resolve) => setImmediate(resolve)); // what has waited for one so runs in the same turn, one after the other
      await journal.append(callCompleted(n));
    };
    await Promise.all([1, 2, 3].map(end));
    expect(server.statements - statements).toBe(1);
    await journal.append(finished);
  });
});
