/** Writes `manifest.json` of a run folder, which names the run that the folder belongs to. graph-pipelines.md 11. */
import path from 'node:path';
import { sha256 } from '../../../journal/canonical.js';
import type { World } from '../../world/world.js';

const VERSION = 1;

export interface ManifestFacts {
  readonly folder: string;
  readonly runId: string;
  readonly journalRun: string;
  readonly pipeline: string;
  readonly goal: string;
  readonly source: { readonly path: string; readonly text: string };
  readonly startedAt: string;
  /** Undefined unless the run resumes an earlier one. */
  readonly resumedAt: string | undefined;
}

export async function writeManifest(world: World, facts: ManifestFacts): Promise<void> {
  const file = path.join(facts.folder, 'manifest.json');
  const earlier = facts.resumedAt === undefined ? [] : [...(await resumesIn(world, file)), facts.resumedAt];
  const manifest = {
    version: VERSION,
    run_id: facts.runId,
    journal_run: facts.journalRun,
    pipeline_name: facts.pipeline,
    goal: facts.goal,
    source: { path: facts.source.path, sha256: sha256(facts.source.text) },
    started_at: facts.startedAt,
    resumed_at: earlier,
  };
  await world.perform('file.write', { path: file, text: `${JSON.stringify(manifest, undefined, 2)}\n` });
}

/** Returns the id of the run that the folder belongs to; undefined without a manifest. */
export async function runOfManifest(world: World, folder: string): Promise<unknown> {
  return (await manifestIn(world, path.join(folder, 'manifest.json'))).run_id;
}

/** True where this run of the chain uses the folder. One that resumed it on another machine uses the folder of the same name there. */
export async function isFolderInUse(world: World, folder: string, { runId, journalRun }: UsedBy): Promise<boolean> {
  const { run_id: first, journal_run: latest = journalRun } = await manifestIn(world, path.join(folder, 'manifest.json'));
  return first === runId && latest === journalRun;
}

interface UsedBy {
  /** Names the chain. */
  readonly runId: string | undefined;
  readonly journalRun: string;
}

async function resumesIn(world: World, file: string): Promise<readonly string[]> {
  const { resumed_at: times } = await manifestIn(world, file);
  return Array.isArray(times) ? times.filter((time): time is string => typeof time === 'string') : [];
}

interface Manifest {
  readonly run_id?: unknown;
  /** Absent in the manifests of older programs. */
  readonly journal_run?: unknown;
  readonly resumed_at?: unknown;
}

async function manifestIn(world: World, file: string): Promise<Manifest> {
  const read = await world.perform('file.read', { path: file });
  if (!('text' in read)) return {};
  try {
    return (JSON.parse(read.text) ?? {}) as Manifest;
  } catch {
    return {}; // the file is for people, who may have changed it
  }
}
