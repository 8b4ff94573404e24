/** Keeps runs in memory, for tests and for runs whose journal is not kept. Same lines, same chain, no files. */
import { endOfRun } from '../lines/end-of-run.js';
import { randomBytes } from 'node:crypto';
import type { BlobWriter, StoredBlob } from './blob-writer.js';
import { MemoryPack } from './packs/memory-pack.js';
import { sha256 } from '../canonical.js';
import { CHAIN_SEED, decodeOwn, encode, type Line } from '../codec.js';
import { JournalError } from '../errors.js';
import type { Fact, JournalEvent } from '../event.js';
import type { OwnFact } from '../own-fact.js';
import { seqOf, type BlobId, type RunId, type RunRef, type Seq, type Workflow } from '../ids.js';
import { PACKED_BYTES_MIN } from '../payloads.js';
import { PACKED_BYTES_MAX } from './packs/pack-record.js';
import { RecentTexts } from './packs/recent-texts.js';
import { openKeyring, type SealingKey } from '../secrets/keyring.js';
import { withPayloads } from '../secrets/payload-store.js';
import { visitLine } from '../lines/unfit.js';
import { KEY_BYTES } from '../secrets/sealing.js';
import { hasEnded, inUse, isUnknown } from './runs/reopen-run.js';
import type { CreateOptions, Journal, JournalStore, Position, Recorded, RunFile, RunStore, ScanOptions, ScanReport } from '../store.js';
import { servingRole } from './tail.js';

/**
 * Opens a store that lives as long as the program. Secret results are sealed with `sealingKey`, else with a key that is kept nowhere.
 *
 * ```js
 * const store = openMemoryStore();
 * await run({ script, cache: { record: true }, openStore: async () => store });
 * ```
 */
export function openMemoryStore(sealingKey?: SealingKey): JournalStore {
  const keyring = openKeyring({ sealingKey, read: async () => undefined, make: async () => randomBytes(KEY_BYTES) });
  return withPayloads(new MemoryStore(), keyring);
}

interface StoredLine {
  readonly line: Line;
  readonly position: Position;
}

class MemoryRun implements Journal {
  isOpen = true;
  private lost = 0;

  constructor(
    readonly ref: RunRef,
    private readonly options: CreateOptions = {},
    readonly lines: StoredLine[] = [],
    public bytes = 0,
  ) {}

  post(fact: Fact): Recorded {
    try {
      return this.add(fact);
    } catch (error) {
      if (this.isOpen) this.options.onLost?.(error as JournalError); // `add` throws nothing else
      return { seq: seqOf(this.lines.length), ts: new Date().toISOString(), hash: '', position: { offset: this.bytes, bytes: 0 } };
    }
  }

  async append(fact: Fact, placed?: (recorded: Recorded) => void): Promise<Recorded> {
    const recorded = this.add(fact);
    placed?.(recorded);
    return recorded;
  }

  async appendOwn(fact: OwnFact): Promise<Recorded> {
    return this.add(fact);
  }

  async flush(): Promise<void> {}

  async close(): Promise<void> {
    this.isOpen = false;
  }

  first(): JournalEvent | undefined {
    const [first] = this.lines;
    return first && decodeOwn(first.line);
  }

  last(): JournalEvent | undefined {
    const last = this.lines.at(-1);
    return last && decodeOwn(last.line);
  }

  private add(handed: Fact | OwnFact): Recorded {
    if (!this.isOpen) throw new Error(`run ${this.ref.run} is closed`);
    const fact = handed.type === 'run.finished' && this.lost > 0 ? { ...handed, lost: this.lost } : handed;
    const seq = seqOf(this.lines.length);
    const ts = new Date().toISOString();
    const line = this.encoded(fact, seq, ts);
    const position = { offset: this.bytes, bytes: Buffer.byteLength(line.text) - 1 };
    this.lines.push({ line, position });
    this.bytes += position.bytes + 1;
    return { seq, ts, hash: line.hash, position };
  }

  private encoded(fact: Fact | OwnFact, seq: Seq, ts: string): Line {
    try {
      return encode(fact, seq, ts, this.lines.at(-1)?.line.hash ?? CHAIN_SEED);
    } catch (error) {
      this.lost++;
      throw error;
    }
  }
}

class MemoryStore implements RunStore {
  private readonly all = new Map<RunId, MemoryRun>();
  private readonly blobs = new Map<BlobId, Buffer>();
  private readonly pack = new MemoryPack();
  private readonly recentTexts = new RecentTexts();
  private readonly derived = new Map<string, Buffer>();
  /** Each promise resolves when the last lock that was requested is released. */
  private readonly locks = new Map<Workflow, Promise<void>>();

  readonly immediate: NonNullable<RunStore['immediate']> = {
    holds: (ref, position, key) => {
      const event = this.lineAt(ref, position);
      return event?.type === 'call.completed' && event.key === key;
    },
    readAt: (ref, position) => this.lineAt(ref, position),
    getBlob: (id) => this.blobs.get(id) ?? this.pack.content(id),
  };

  async create(ref: RunRef, options?: CreateOptions): Promise<Journal> {
    if (this.all.has(ref.run)) throw new JournalError('JOURNAL_RUN_EXISTS', `there is a run ${ref.run} already`);
    const run = new MemoryRun(ref, options);
    this.all.set(ref.run, run);
    return run;
  }

  async reopen(ref: RunRef, options?: CreateOptions): Promise<Journal> {
    const before = this.withoutWriter(ref);
    if (before.last()?.type === 'run.finished') throw hasEnded(ref);
    const run = new MemoryRun(ref, options, before.lines, before.bytes);
    this.all.set(ref.run, run);
    return run;
  }

  async deleteRun(ref: RunRef): Promise<void> {
    this.withoutWriter(ref);
    this.all.delete(ref.run);
  }

  private withoutWriter(ref: RunRef): MemoryRun {
    const run = this.all.get(ref.run);
    if (run?.ref.workflow !== ref.workflow) throw isUnknown(ref);
    if (run.isOpen) throw inUse(ref);
    return run;
  }

  async acquireWorkflowLock(workflow: Workflow): Promise<() => Promise<void>> {
    const before = this.locks.get(workflow);
    let end = (): void => {};
    this.locks.set(workflow, new Promise((resolve) => (end = resolve)));
    await before;
    return async () => end();
  }

  async workflows(): Promise<readonly Workflow[]> {
    return [...new Set([...this.all.values()].map((run) => run.ref.workflow))].sort();
  }

  async runs(workflow: Workflow): Promise<readonly RunFile[]> {
    const runs = [...this.all.values()].filter((run) => run.ref.workflow === workflow);
    return runs.map(describe).sort((a, b) => (a.ref.run < b.ref.run ? -1 : 1));
  }

  async find(run: RunId): Promise<RunRef | undefined> {
    return this.all.get(run)?.ref;
  }

  async scan(ref: RunRef, visit: (event: JournalEvent, position: Position) => void, options: ScanOptions = {}): Promise<ScanReport> {
    let end = options.from ?? { offset: 0, seq: seqOf(-1), hash: CHAIN_SEED };
    let events = 0;
    let defects = 0;
    for (const { line, position } of this.all.get(ref.run)?.lines.slice(end.seq + 1) ?? []) {
      if (events === options.eventsMax) break;
      const event = decodeOwn(line);
      end = { offset: position.offset + position.bytes + 1, seq: event.seq, hash: event.hash };
      events++;
      const defect = visitLine(visit, event, position, ref);
      if (defect === undefined) continue;
      defects++;
      options.onDefect?.(defect);
    }
    return { events, defects, end };
  }

  async readAt(ref: RunRef, position: Position): Promise<JournalEvent | undefined> {
    return this.lineAt(ref, position);
  }

  private lineAt(ref: RunRef, position: Position): JournalEvent | undefined {
    const found = this.all.get(ref.run)?.lines.find((stored) => stored.position.offset === position.offset);
    return found && decodeOwn(found.line);
  }

  async putBlob(content: string | Uint8Array): Promise<StoredBlob> {
    const bytes = Buffer.from(content as Uint8Array); // also takes text; copies, so that the caller can't change it afterwards
    const blob = sha256(bytes);
    this.blobs.set(blob, bytes);
    return { blob, bytes: bytes.length };
  }

  continues(text: string): boolean {
    return this.recentTexts.continues(text);
  }

  hasGrown(id: BlobId): boolean {
    return this.pack.hasGrown(id);
  }

  async packBlob(content: string): Promise<StoredBlob> {
    const bytes = Buffer.byteLength(content);
    if (bytes < PACKED_BYTES_MIN || bytes > PACKED_BYTES_MAX) return this.putBlob(content);
    return { blob: this.pack.store(Buffer.from(content)), bytes };
  }

  newBlob(): BlobWriter {
    const pieces: Buffer[] = [];
    return {
      write: (piece) => void pieces.push(Buffer.from(piece)),
      read: async () => Buffer.concat(pieces),
      keep: () => this.putBlob(Buffer.concat(pieces)),
      discard: async () => void pieces.splice(0),
    };
  }

  async getBlob(id: BlobId): Promise<Uint8Array | undefined> {
    const found = this.blobs.get(id);
    return found === undefined ? this.pack.content(id) : Buffer.from(found);
  }

  async readDerived(workflow: Workflow, name: string): Promise<Uint8Array | undefined> {
    return this.derived.get(`${workflow}\n${name}`);
  }

  async writeDerived(workflow: Workflow, name: string, content: string | Uint8Array): Promise<void> {
    this.derived.set(`${workflow}\n${name}`, Buffer.from(content as Uint8Array));
  }

  async replaceDerived(workflow: Workflow, name: string, content: string | Uint8Array, beginning: string | undefined): Promise<boolean> {
    const there = this.derived.get(`${workflow}\n${name}`);
    if (there !== undefined && (beginning === undefined || !there.toString().startsWith(beginning))) return false;
    await this.writeDerived(workflow, name, content);
    return true;
  }
}

function describe(run: MemoryRun): RunFile {
  const { ref, bytes } = run;
  const last = run.last();
  const finished = endOfRun(last);
  if (finished !== undefined) return { ref, liveness: 'finished', bytes, finished };
  return { ref, liveness: run.isOpen ? 'running' : 'crashed', bytes, ...servingRole(run.first()) };
}
