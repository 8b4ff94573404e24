/**
 * Keeps the parts of an index (`IndexFiles`) as rows in the database, and a copy of each in a folder of this machine, so that a start
 * fetches only what it has not seen.
 *
 * PARTS-1 `write` resolves when the database has the part, so no index names one that is only here; a copy may be missing at any time
 * PARTS-2 a part is used when all of it is what the index says, wherever it came from: a damaged copy is fetched again
 * PARTS-3 the next start removes copies that the index no longer names: of a run that was redacted elsewhere they may hold text; and, when
 *    it is an hour old, what a process that was killed has left of a copy
 * PARTS-4 a large part is several rows, and neither they nor its copy are ever in memory together: `index/NAME`, `index/NAME/1` and so on.
 *    A kill between two of them leaves rows of a part that no index names; they go as one, like all such parts (INDEX-WRITE-3)
 */
import type { Workflow } from '../../ids.js';
import { newPartName, partNameOf, type IndexFolder } from '../../storage/index-files.js';
import type { IndexFile, IndexFiles, WantedIndexFile } from '../../store.js';
import type { Sql } from '../connection.js';
import { readDerivedRow, writeDerivedRow } from './derived-rows.js';
import { followed, inRows } from './part-rows.js';

const PREFIX = 'index/';
/** Another process of this machine may have read an older index a moment ago. */
const UNNAMED_MS = 60_000;
/** A large part may be on its way to another process of this machine for so long. */
const UNFINISHED_MS = 3_600_000;
/** A larger row would be held several times by client and server while it is on its way. PARTS-4 */
const ROW_BYTES_MAX = 4 * 1024 * 1024;
/** A larger copy stays on the disk, and is read page by page. */
const HELD_BYTES_MAX = 16 * 1024 * 1024;

export interface IndexPartsPorts {
  readonly reader: Sql;
  readonly side: Sql;
  readonly project: string;
  /** Undefined: every start fetches all parts. */
  readonly copies: IndexFolder | undefined;
}

const OF_WORKFLOW = `from mlld.asides a join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
  where p.name = $1 and w.path = $2`;

export function openIndexParts({ reader, side, project, copies }: IndexPartsPorts): IndexFiles {
  /** Parts that were fetched, until they are opened. */
  const ready = new Map<string, IndexFile>();

  async function list(workflow: Workflow): Promise<readonly string[]> {
    const rows = await reader.query(`select a.name ${OF_WORKFLOW} and starts_with(a.name, '${PREFIX}')`, [project, workflow]);
    return [...new Set(rows.map((row) => String(row['name']).slice(PREFIX.length).split('/', 1)[0] as string))];
  }

  /** PARTS-2. One that can't be read is as one that is not there. */
  function wholeCopy(workflow: Workflow, { name, isWhole }: WantedIndexFile): IndexFile | undefined {
    try {
      const copy = held(copies?.open(workflow, name));
      return copy && isWhole(copy) ? copy : undefined;
    } catch {
      return undefined;
    }
  }

  /** PARTS-4. Throws `Incomplete`. */
  async function* rowsOf(workflow: Workflow, { name, bytes }: WantedIndexFile): AsyncGenerator<Uint8Array> {
    for (let row = 0, got = 0; got < bytes; row++) {
      const content = await readDerivedRow(reader, [project, workflow, nameOfRow(name, row)]);
      if (content === undefined || content.length === 0) throw new Incomplete();
      got += content.length;
      yield content;
    }
  }

  /** Returns a part of many rows; undefined when it is not what the index says. PARTS-2, PARTS-4 */
  async function fetchLarge(workflow: Workflow, wanted: WantedIndexFile): Promise<IndexFile | undefined> {
    const { name, isWhole } = wanted;
    const rows = followed(rowsOf(workflow, wanted));
    await copies?.put(workflow, name, rows.each).catch(() => undefined); // PARTS-1
    try {
      if (rows.error !== undefined) throw rows.error;
      const copy = wholeCopy(workflow, wanted);
      if (copy) return copy;
      const contents: Uint8Array[] = []; // no copy can be kept here
      for await (const content of rowsOf(workflow, wanted)) contents.push(content);
      const part = fileOf(Buffer.concat(contents));
      return isWhole(part) ? part : undefined;
    } catch (error) {
      if (error instanceof Incomplete) return undefined;
      throw error;
    }
  }

  /** PARTS-3 */
  async function removeUnnamed(workflow: Workflow, wanted: readonly WantedIndexFile[]): Promise<void> {
    const named = new Set(wanted.map(({ name }) => name));
    await copies?.removeUnfinished(workflow, UNFINISHED_MS);
    const unnamed = ((await copies?.list(workflow)) ?? []).filter(({ name, ageMs }) => !named.has(name) && ageMs > UNNAMED_MS);
    for (const { name } of unnamed) await copies?.remove(workflow, name);
  }

  return {
    list: async (workflow) => (await list(workflow)).flatMap((name) => partNameOf(name) ?? []),
    async fetch(workflow, wanted) {
      await removeUnnamed(workflow, wanted).catch(() => undefined); // the next start does
      const missing = new Map<string, WantedIndexFile>();
      for (const each of wanted) {
        if (partNameOf(each.name) === undefined) continue;
        const copy = wholeCopy(workflow, each);
        if (copy) ready.set(each.name, copy);
        else missing.set(each.name, each);
      }
      for (const [name, each] of missing) {
        if (each.bytes <= ROW_BYTES_MAX) continue;
        missing.delete(name);
        const part = await fetchLarge(workflow, each);
        if (part) ready.set(name, part);
      }
      if (missing.size === 0) return;
      const names = Array.from(missing.keys(), (name) => `${PREFIX}${name}`);
      const rows = await reader.query(`select a.name, a.content ${OF_WORKFLOW} and a.name = any ($3::text[])`, [project, workflow, names]);
      for (const { name: stored, content } of rows) {
        const name = String(stored).slice(PREFIX.length);
        const part = content instanceof Uint8Array ? fileOf(content) : undefined;
        if (part === undefined || missing.get(name)?.isWhole(part) !== true) continue; // PARTS-2
        ready.set(name, part);
        await copies?.put(workflow, name, [content as Uint8Array]).catch(() => undefined); // PARTS-1
      }
    },
    open(_workflow, name) {
      const part = ready.get(name);
      ready.delete(name);
      return part;
    },
    async write(workflow, pieces) {
      const name = newPartName();
      async function* stored(): AsyncGenerator<Uint8Array> {
        let row = 0;
        for (const content of inRows(pieces, ROW_BYTES_MAX)) {
          await writeDerivedRow(side, [project, workflow, nameOfRow(name, row++)], content);
          yield content;
        }
      }
      const rows = followed(stored());
      await copies?.put(workflow, name, rows.each).catch(() => undefined); // PARTS-1
      await rows.toEnd();
      return name;
    },
    async remove(workflow, name) {
      await side.query(
        `delete from mlld.asides a using mlld.workflows w, mlld.projects p where a.workflow_id = w.workflow_id
           and w.project_id = p.project_id and p.name = $1 and w.path = $2 and (a.name = $3 or starts_with(a.name, $3 || '/'))`,
        [project, workflow, nameOfRow(name, 0)],
      );
      await copies?.remove(workflow, name);
    },
  };
}

/** A row of the part is not there. */
class Incomplete extends Error {}

function nameOfRow(name: string, row: number): string {
  return row === 0 ? `${PREFIX}${name}` : `${PREFIX}${name}/${row}`;
}

function fileOf(content: Uint8Array): IndexFile {
  return { bytes: content.length, read: (offset, bytes) => content.subarray(offset, offset + bytes) };
}

/** A copy that is damaged later would have to be made good from runs that can't be read without waiting, so a small one is in memory. */
function held(copy: IndexFile | undefined): IndexFile | undefined {
  return copy && copy.bytes <= HELD_BYTES_MAX ? fileOf(copy.read(0, copy.bytes)) : copy;
}
