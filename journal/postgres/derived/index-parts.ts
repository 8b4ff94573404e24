/**
 * Keeps the parts of an index (`IndexFiles`) as rows in the database, and a copy of each in a folder of this machine, so that a start
 * fetches only what it has not seen.
 *
 * PARTS-1 `write` resolves when the database has the part, so no index names one that is only here; a copy may be missing at any time
 * PARTS-2 a part is used when all of it is what the index says, wherever it came from: a damaged copy is fetched again
 * PARTS-3 the next start removes copies that the index no longer names: of a run that was redacted elsewhere they may hold text
 */
import type { Workflow } from '../../ids.js';
import { newPartName, partNameOf, type IndexFolder } from '../../storage/index-files.js';
import type { IndexFile, IndexFiles, WantedIndexFile } from '../../store.js';
import type { Sql } from '../connection.js';
import { writeDerivedRow } from './derived-rows.js';

const PREFIX = 'index/';
/** Another process of this machine may have read an older index a moment ago. */
const UNNAMED_MS = 60_000;

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
    return rows.map((row) => String(row['name']).slice(PREFIX.length));
  }

  /** PARTS-3 */
  async function removeUnnamed(workflow: Workflow, wanted: readonly WantedIndexFile[]): Promise<void> {
    const named = new Set(wanted.map(({ name }) => name));
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
        const copy = inMemory(copies?.open(workflow, each.name));
        if (copy && each.isWhole(copy)) ready.set(each.name, copy);
        else missing.set(each.name, each);
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
      const content = Buffer.concat([...pieces]);
      await writeDerivedRow(side, [project, workflow, `${PREFIX}${name}`], content);
      await copies?.put(workflow, name, [content]).catch(() => undefined); // PARTS-1
      return name;
    },
    async remove(workflow, name) {
      await side.query(
        `delete from mlld.asides a using mlld.workflows w, mlld.projects p where a.workflow_id = w.workflow_id
           and w.project_id = p.project_id and p.name = $1 and w.path = $2 and a.name = $3`,
        [project, workflow, `${PREFIX}${name}`],
      );
      await copies?.remove(workflow, name);
    },
  };
}

function fileOf(content: Uint8Array): IndexFile {
  return { bytes: content.length, read: (offset, bytes) => content.subarray(offset, offset + bytes) };
}

/** A copy that is damaged later would have to be made good from runs that can't be read without waiting. */
function inMemory(copy: IndexFile | undefined): IndexFile | undefined {
  return copy && fileOf(copy.read(0, copy.bytes));
}
