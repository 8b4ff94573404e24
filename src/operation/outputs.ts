/**
 * Declared output files: `exe llm @draw(name) = … with { writes: ["out/@name.svg"] }`. The files that a call wrote are stored with its
 * result, and put back when the result is reused. `docs/decisions/0010-declared-outputs.md` has the table that `decideOutput` is.
 *
 * OUTPUT-1  A file is stored as a durable blob before `call.completed` names it.
 * OUTPUT-2  Nothing is put back before every file of the call is decided, and every blob that is needed has been read.
 * OUTPUT-3  A file that no recorded call can bring back is never replaced without a warning.
 * OUTPUT-4  A file is replaced as a whole: a kill leaves some files put back and others not, and the next run continues with those.
 */
import path from 'node:path';
import { sha256 } from '../../journal/canonical.js';
import type { OutputFile, ReusedOutput } from '../../journal/event.js';
import type { BlobId } from '../../journal/ids.js';
import { valueIn, type Outcome } from '../runtime/completion.js';
import type { LlmCall } from '../runtime/calls/llm-call.js';
import type { CachedResult, OutputFiles } from '../runtime/calls/result-cache.js';
import { isSecret } from '../runtime/secrets/secret-registry.js';
import type { World } from '../world/world.js';
import type { CacheableCall } from './cacheable-call.js';

export type OutputReuse = { readonly kind: 'reusable'; readonly outputs: readonly ReusedOutput[] } | OutdatedOutputs;

/** Declared files that keep a recorded result from being reused. */
export interface OutdatedOutputs {
  readonly kind: 'outdated';
  readonly files: readonly string[];
  readonly because: string;
  readonly hint?: string;
}

type Decision = 'same' | 'restore' | 'keep' | 'absent' | 'again';

export interface OutputState {
  readonly recorded: OutputFile;
  readonly onDisk: BlobId | 'absent' | 'unreadable';
  /** A recorded call wrote what is on disk, so that it is not lost when it is replaced. */
  readonly isKnown: boolean;
  readonly keepsNewer: boolean;
}

export function decideOutput({ recorded, onDisk, isKnown, keepsNewer }: OutputState): Decision {
  if (!('blob' in recorded)) {
    if (recorded.reason === 'absent') return 'absent';
    return onDisk === 'absent' ? 'again' : 'keep';
  }
  if (onDisk === 'absent') return 'restore';
  if (onDisk === recorded.blob) return 'same';
  if (isKnown) return 'restore';
  return keepsNewer ? 'keep' : 'again';
}

/**
 * Stores the declared files as the call left them, for the event that records its result. `reported`: the missing ones that a warning has
 * named; guards may have made others since their result was received.
 */
export async function keepOutputs(
  { run, operation: { inputs }, secret }: CacheableCall,
  writes: NonNullable<LlmCall['writes']>,
  result: Outcome,
  reported: Set<string>,
): Promise<readonly OutputFile[]> {
  const { cache, settings, world, warn } = run;
  const outputs: OutputFile[] = [];
  for (const absolute of await writes(inputs)) {
    const name = projectPath(absolute, settings.projectRoot);
    if (secret || isSecret(valueIn(result)) || inputs.some(isSecret)) {
      outputs.push({ path: name, reason: 'secret' });
      continue;
    }
    // The result is paid for: a file that can't be read now costs the file, not the result.
    const found = await world
      .perform('file.bytes', { path: absolute })
      .catch((error: unknown) => ({ missing: 'unreadable' as const, detail: (error as Error).message }));
    if ('missing' in found) {
      outputs.push({ path: name, reason: found.missing });
      if (!reported.has(name)) warn(`${name} was declared as an output and can't be recorded: ${found.detail}`);
      reported.add(name);
    } else {
      const kept = await cache.files.keep(name, Buffer.from(found.base64, 'base64'));
      outputs.push(kept ? { path: name, ...kept } : { path: name, reason: 'unreadable' });
    }
  }
  return outputs;
}

interface PlannedFile {
  readonly absolute: string;
  readonly name: string;
  readonly output: OutputFile;
  readonly decision: Decision;
}

/** Puts the declared files back as the call of the recorded result left them, or returns those that keep it from being reused. */
export async function reuseOutputs(call: CacheableCall, fn: string, known: CachedResult): Promise<OutputReuse> {
  const { run, llm, operation } = call;
  if (!llm.writes) return { kind: 'reusable', outputs: [] };
  const places = await llm.writes(operation.inputs);
  const names = places.map((place) => projectPath(place, run.settings.projectRoot));
  const recorded = await known.outputs();
  if (recorded === undefined || recorded.length !== places.length) {
    return { kind: 'outdated', files: names, because: `the recorded result of @${fn} lacks output files that it declares now` };
  }
  const planned: PlannedFile[] = [];
  for (const [index, absolute] of places.entries()) {
    // By their place in the declaration: `key` may leave a path out of the call key, and then it is another path now.
    const [name, output] = [names[index] as string, recorded[index] as OutputFile];
    planned.push({
      absolute,
      name,
      output,
      decision: await decisionFor({ absolute, name, recorded: output }, { world: run.world, files: run.cache.files }),
    });
  }
  const outdated = planned.filter(({ decision }) => decision === 'again').map(({ name }) => name);
  if (outdated.length > 0) {
    const because = `${outdated.join(', ')} changed since @${fn} wrote it`;
    return { kind: 'outdated', files: outdated, because, hint: '--keep-files keeps what is there' };
  }
  const lost = await restoreAll(call, planned);
  if (lost !== undefined) return { kind: 'outdated', files: [lost], because: `what @${fn} wrote to ${lost} can't be read any more` };
  const kept = planned.filter(({ decision, output }) => decision === 'keep' && 'blob' in output).map(({ name }) => name);
  if (kept.length > 0) run.warn(`${kept.join(', ')} changed since @${fn} wrote it, and is kept`, `kept @${fn}`);
  return {
    kind: 'reusable',
    outputs: planned.map(({ name, decision }) => ({ path: name, did: DID[decision as Exclude<Decision, 'again'>] })),
  };
}

/** Returns the first file whose blob can't be read: then none is put back (OUTPUT-2). */
async function restoreAll({ run, restore }: CacheableCall, planned: readonly PlannedFile[]): Promise<string | undefined> {
  const contents = new Map<string, Uint8Array>();
  for (const { absolute, name, output, decision } of planned) {
    if (decision !== 'restore' || !('blob' in output)) continue;
    const content = await run.cache.files.content(output.blob);
    if (content === undefined) return name;
    contents.set(absolute, content);
  }
  for (const [absolute, content] of contents) await restore({ path: absolute, base64: Buffer.from(content).toString('base64') });
  return undefined;
}

const DID: { readonly [D in Exclude<Decision, 'again'>]: ReusedOutput['did'] } = {
  same: 'same',
  restore: 'restored',
  keep: 'kept',
  absent: 'absent',
};

/** Decides what a hit does with one declared file. `name` is the path that the journal has. */
export async function decisionFor(
  { absolute, name, recorded }: { readonly absolute: string; readonly name: string; readonly recorded: OutputFile },
  { world, files }: { readonly world: World; readonly files: OutputFiles },
): Promise<Decision> {
  const found = await world.perform('file.bytes', { path: absolute });
  const onDisk = 'missing' in found ? (found.missing === 'absent' ? 'absent' : 'unreadable') : digest(found.base64);
  const { keepsNewer } = files;
  const isSettled = !('blob' in recorded) || onDisk === 'absent' || onDisk === 'unreadable' || onDisk === recorded.blob;
  const isKnown = !isSettled && (await files.wrote(name, onDisk));
  return decideOutput({ recorded, onDisk, isKnown, keepsNewer });
}

function digest(base64: string): BlobId {
  return sha256(Buffer.from(base64, 'base64'));
}

/** Returns the path as the journal names files: relative to the project where they are in it. */
function projectPath(absolute: string, projectRoot: string): string {
  const relative = path.relative(projectRoot, absolute);
  return relative.startsWith('..') || path.isAbsolute(relative) ? absolute : relative.replaceAll(path.sep, '/');
}
