/**
 * Reads and writes the index of a workflow: the file `index`, and in a long past the tiers that it names.
 *
 * INDEX-WRITE-1 tiers are durable before the file that names them appears, by rename; a kill before that leaves files that nothing names
 * INDEX-WRITE-2 a writer that finds another index than the one it began with leaves it as it is: another process has written it
 * INDEX-WRITE-3 tiers that no index names go with a later index, an hour after they were made: until then another process may name them
 * INDEX-WRITE-4 an index that can't be read or written costs reading and folding, never a result, and is made again
 */
import { JournalError } from '../../journal/errors.js';
import type { RunRef, Workflow } from '../../journal/ids.js';
import type { IndexFile, IndexFiles, JournalStore, ListedIndexFile, RunFile } from '../../journal/store.js';
import { memo } from './memo.js';
import {
  coversPrefix,
  decodeSnapshot,
  encodeIndex,
  headingOf,
  tiersNamedIn,
  NOTHING_BELOW,
  type Below,
  type CapturedIndex,
  type Covered,
  type DecodedIndex,
} from './snapshot.js';
import { changedRows } from './tiers/changed-rows.js';
import { mergeRows, tiersToKeep } from './tiers/merge-rows.js';
import type { Row } from './tiers/row.js';
import { DamagedTier, Tier, writeTier } from './tiers/tier.js';
import { TieredRows } from './tiers/tiered-rows.js';

const INDEX = 'index';
const LEFTOVER_MS = 3_600_000;

export interface IndexLimits {
  /** So few events are read again rather than written into an index. */
  readonly events: number;
  /** A run counts as so many events more: opening and closing its file costs as much as reading them. */
  readonly runEvents: number;
  /** More rows go into the first tier: a past of fewer is read as a whole, which costs less than looking its calls up one by one. */
  readonly rows: number;
  /** More rows above the tiers go into another tier: they are read at each start. */
  readonly rowsAbove: number;
}

const USUAL: IndexLimits = { events: 1000, runEvents: 64, rows: 16_384, rowsAbove: 8192 };

/** The index of one workflow, as one process knows it. */
export class IndexOnDisk {
  /** The first line of the index that was read or written here last; undefined when there was none. */
  private heading: string | undefined;
  private below: Below = NOTHING_BELOW;
  /** Tiers that this process has named in an index, or found there. */
  private readonly named = new Set<string>();

  constructor(
    private readonly store: JournalStore,
    private readonly workflow: Workflow,
    readonly limits: IndexLimits = USUAL,
  ) {}

  /** The number of calls in the tiers that were read. */
  get calls(): number {
    return this.below.calls;
  }

  /** The store can keep tiers. */
  get hasFiles(): boolean {
    return this.store.indexFiles !== undefined;
  }

  /** Undefined when there is none. The tiers that it names can be opened then. */
  async content(): Promise<Uint8Array | undefined> {
    const content = await this.store.readDerived(this.workflow, INDEX);
    const { indexFiles: files } = this.store;
    if (files?.fetch === undefined) return content;
    const wanted = tiersNamedIn(content).map((info) => ({
      name: info.name,
      bytes: info.pagesBytes + info.endBytes,
      isWhole: (file: IndexFile) => Tier.isWhole(file, info),
    }));
    await files.fetch(this.workflow, wanted);
    return content;
  }

  /** Undefined when it is not an index of this version that covers the first of these runs, whole. */
  decode(content: Uint8Array | undefined, runs: readonly RunFile[]): DecodedIndex | undefined {
    this.heading = content && headingOf(content);
    const decoded = content && decodeSnapshot(content, (below, covered) => this.openBelow(below, covered, runs), this.limits.rows);
    if (decoded === undefined || !coversPrefix(decoded.covered, runs)) return undefined;
    this.below = decoded.below;
    return decoded;
  }

  /** Writes an index that was captured over `tiers`, those that were read; undefined when it holds everything. INDEX-WRITE-4 */
  async write(captured: CapturedIndex, tiers: TieredRows | undefined): Promise<void> {
    try {
      await this.replace(captured, tiers);
    } catch (error) {
      // Else the index is as it was. Where files are copies, the next start fetches the damaged one again.
      if (error instanceof DamagedTier && this.store.indexFiles?.fetch === undefined) await this.discard();
    }
  }

  /** Makes the next start make the index again. */
  async discard(): Promise<void> {
    await this.store.writeDerived(this.workflow, INDEX, '').catch(() => undefined);
  }

  private async replace(captured: CapturedIndex, tiers: TieredRows | undefined): Promise<void> {
    const { indexFiles: files } = this.store;
    let below = tiers === undefined ? NOTHING_BELOW : this.below;
    let { rows } = captured;
    if (files !== undefined && rows.length > this.rowsMax(tiers)) {
      if (await this.isOfAnother()) return; // INDEX-WRITE-2: before the work
      below = await this.lower(files, rows, tiers); // INDEX-WRITE-1
      rows = [];
    }
    const encoded = encodeIndex({ ...captured, rows }, below);
    if (!(await this.isReplaced(encoded))) return;
    this.heading = headingOf(encoded);
    for (const { name } of below.tiers) this.named.add(name);
    if (files !== undefined) await this.removeLeftovers(files, below).catch(() => undefined); // the next writer does
  }

  /** INDEX-WRITE-2 */
  private async isReplaced(encoded: string): Promise<boolean> {
    const { store, workflow, heading } = this;
    // An empty heading says nothing of what is there.
    if (heading !== '' && (await store.replaceDerived(workflow, INDEX, encoded, heading && `${heading}\n`))) return true;
    if (await this.isOfAnother()) return false;
    await store.writeDerived(workflow, INDEX, encoded);
    return true;
  }

  private rowsMax(tiers: TieredRows | undefined): number {
    return tiers === undefined ? this.limits.rows : this.limits.rowsAbove;
  }

  /** Writes a tier of the rows and of the tiers that they outgrow. */
  private async lower(files: IndexFiles, rows: readonly Row[], tiers: TieredRows | undefined): Promise<Below> {
    const opened = tiers?.tiers ?? [];
    const kept = tiersToKeep(
      opened.map(({ info }) => info.rows),
      rows.length,
    );
    const sorted = [...rows].sort((one, other) => (one.key < other.key ? -1 : 1));
    const sources = [...opened.slice(kept).map((tier) => tier.rows()), sorted.values()];
    const written = await writeTier(files, this.workflow, mergeRows(sources));
    const calls = rows.reduce((count, { order }) => count + (order === undefined ? 0 : 1), tiers === undefined ? 0 : this.below.calls);
    return { tiers: [...opened.slice(0, kept).map(({ info }) => info), written], calls };
  }

  /** Returns whether another process has written the index since. One that was emptied or damaged may be replaced. */
  private async isOfAnother(): Promise<boolean> {
    const content = await this.store.readDerived(this.workflow, INDEX);
    const now = content && headingOf(content);
    return now !== undefined && now !== this.heading && decodeSnapshot(content as Uint8Array, () => NO_TIERS, 0) !== undefined;
  }

  /** INDEX-WRITE-3 */
  private async removeLeftovers(files: IndexFiles, { tiers }: Below): Promise<void> {
    const needed = new Set(tiers.map(({ name }) => name));
    for (const { name } of this.below.tiers) needed.add(name); // the next index of this process may name them again
    const isLeft = ({ name, ageMs }: ListedIndexFile): boolean => !needed.has(name) && (this.named.has(name) || ageMs > LEFTOVER_MS);
    const left = (await files.list(this.workflow)).filter(isLeft);
    if (left.length === 0) return;
    const content = await this.store.readDerived(this.workflow, INDEX);
    if (content === undefined || headingOf(content) !== this.heading) return; // another process was quicker: it knows what it needs
    for (const { name } of left) await files.remove(this.workflow, name);
  }

  private openBelow({ tiers }: Below, covered: readonly Covered[], runs: readonly RunFile[]): TieredRows | undefined {
    const { indexFiles: files } = this.store;
    if (files === undefined || !coversPrefix(covered, runs)) return undefined;
    const opened: Tier[] = [];
    for (const info of tiers) {
      const tier = Tier.open(files, this.workflow, info);
      if (tier === undefined) return undefined;
      opened.push(tier);
      this.named.add(info.name);
    }
    return new TieredRows(opened, () => {
      if (files.scanNow === undefined) throw damagedCopy();
      void this.discard();
      return foldCovered(files, this.workflow, covered);
    });
  }
}

function damagedCopy(): JournalError {
  return new JournalError('JOURNAL_IO', 'a file of the index below .mlld/cache can no longer be read as it was a moment ago', {
    hint: 'check the disk, and what else writes there; run it again, which fetches the file again and reuses what is recorded',
  });
}

const NO_TIERS = new TieredRows([], () => []);

/** Returns all rows of an index, made from the runs that it covers. */
function foldCovered(files: IndexFiles, workflow: Workflow, covered: readonly Covered[]): readonly Row[] {
  const state = memo.initial();
  for (const { run, from } of covered) {
    const ref: RunRef = { workflow, run };
    files.scanNow?.(ref, (event, position) => {
      if (from === undefined || position.offset < from.offset) memo.apply(state, event, { ref, position });
    });
  }
  return changedRows(state, 0);
}

/** Removes all that is derived from the runs of a workflow and may hold text of them. */
export async function removeIndex(store: JournalStore, workflow: Workflow): Promise<void> {
  await store.writeDerived(workflow, INDEX, '');
  const { indexFiles } = store;
  for (const { name } of (await indexFiles?.list(workflow)) ?? []) await indexFiles?.remove(workflow, name);
}
