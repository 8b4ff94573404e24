/**
 * Declared output files: `exe llm @draw(name) = … with { writes: ["out/@name.svg"] }`. What a call wrote is kept with its result, and put
 * back when the result is served. `docs/decisions/0010-declared-outputs.md` has the table that `decideOutput` is.
 *
 * O1  The content is a durable blob before `call.completed` names it.
 * O2  Nothing is put back before it is decided for all files of the call, and all that is needed could be read.
 * O3  A content that nobody could bring back is never replaced without saying so.
 * O4  A file is replaced as a whole: a kill leaves some files put back and others not, and the next run goes on with those.
 */
import { Signal, type Outcome } from '../runtime/completion.js';
import type { OutputFiles } from '../runtime/result-cache.js';
import path from 'node:path';
import { isSecret } from '../runtime/secret-registry.js';
import { sha256 } from '../../journal/canonical.js';
import type { OutputFile, ReusedOutput } from '../../journal/event.js';
import type { BlobId } from '../../journal/ids.js';
import type { Frame } from '../runtime/frame.js';
import { type Value } from '../values/value.js';
import type { World } from '../world/world.js';
import { performEffect } from './perform-effect.js';
import type { CachedResult } from '../runtime/result-cache.js';
import type { LlmCall } from '../runtime/llm-call.js';

export type OutputReuse =
  | { readonly kind: 'served'; readonly outputs: readonly ReusedOutput[] }
  /** This answer can't be served, and why. */
  | { readonly kind: 'outdated'; readonly files: readonly string[]; readonly because: string; readonly hint?: string };

type Decision = 'same' | 'restore' | 'keep' | 'absent' | 'again';

export interface OutputState {
  readonly recorded: OutputFile;
  readonly onDisk: BlobId | 'absent' | 'unreadable';
  /** What is on disk was written by a recorded call, so that it can be had again. */
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

/** What the call has written, for its `call.completed`. */
export async function keepOutputs(
  frame: Frame,
  writes: NonNullable<LlmCall['writes']>,
  inputs: readonly Value[],
  result: Outcome,
): Promise<readonly OutputFile[]> {
  const { cache: answers, world, warn } = frame.run;
  const outputs: OutputFile[] = [];
  for (const absolute of await writes(inputs)) {
    const name = projectPath(absolute, frame);
    if (frame.secret || (!(result instanceof Signal) && isSecret(result)) || inputs.some(isSecret)) {
      outputs.push({ path: name, reason: 'secret' });
      continue;
    }
    // The result is paid for: a world that gives no answer now costs the file, not the result.
    const found = await world
      .perform('file.bytes', { path: absolute })
      .catch((error: unknown) => ({ missing: 'unreadable' as const, detail: (error as Error).message }));
    if ('missing' in found) {
      outputs.push({ path: name, reason: found.missing });
      warn(`${name} was declared as an output and is not kept: ${found.detail}`);
    } else {
      const kept = await answers.files.keep(name, Buffer.from(found.base64, 'base64'));
      outputs.push(kept ? { path: name, ...kept } : { path: name, reason: 'unreadable' });
    }
  }
  return outputs;
}

/** Brings the declared files to what the known answer had written, or says for which of them it can't be served. */
export async function reuseOutputs(
  frame: Frame,
  llm: LlmCall,
  { fn, inputs, known }: { readonly fn: string; readonly inputs: readonly Value[]; readonly known: CachedResult },
): Promise<OutputReuse> {
  if (!llm.writes) return { kind: 'served', outputs: [] };
  const { cache: answers, warn } = frame.run;
  const places = await llm.writes(inputs);
  const names = places.map((place) => projectPath(place, frame));
  const recorded = await known.outputs();
  if (recorded === undefined || recorded.length !== places.length) {
    return { kind: 'outdated', files: names, because: `the recorded answer of @${fn} lacks output files that it declares now` };
  }
  const planned: { readonly absolute: string; readonly name: string; readonly output: OutputFile; readonly decision: Decision }[] = [];
  for (const [index, absolute] of places.entries()) {
    // By their place in the declaration: `key` may leave a path out of the question, and then it is another one now.
    const [name, output] = [names[index] as string, recorded[index] as OutputFile];
    planned.push({
      absolute,
      name,
      output,
      decision: await decisionFor({ absolute, name, recorded: output }, { world: frame.run.world, files: answers.files }),
    });
  }
  const outdated = planned.filter(({ decision }) => decision === 'again').map(({ name }) => name);
  if (outdated.length > 0) {
    const because = `${outdated.join(', ')} changed since @${fn} wrote it`;
    return { kind: 'outdated', files: outdated, because, hint: '--keep-files keeps what is there' };
  }
  const contents = new Map<string, Uint8Array>();
  for (const { absolute, name, output, decision } of planned) {
    if (decision !== 'restore' || !('blob' in output)) continue;
    const content = await answers.files.content(output.blob);
    if (content === undefined) {
      return { kind: 'outdated', files: [name], because: `what @${fn} wrote to ${name} can't be read any more` };
    }
    contents.set(absolute, content); // O2
  }
  for (const [absolute, content] of contents) {
    await performEffect(frame, 'file.restore', { path: absolute, base64: Buffer.from(content).toString('base64') });
  }
  const kept = planned.filter(({ decision, output }) => decision === 'keep' && 'blob' in output).map(({ name }) => name);
  if (kept.length > 0) warn(`${kept.join(', ')} changed since @${fn} wrote it, and is kept`);
  return {
    kind: 'served',
    outputs: planned.map(({ name, decision }) => ({ path: name, did: DID[decision as Exclude<Decision, 'again'>] })),
  };
}

const DID: { readonly [D in Exclude<Decision, 'again'>]: ReusedOutput['did'] } = {
  same: 'same',
  restore: 'restored',
  keep: 'kept',
  absent: 'absent',
};

/** What a hit makes of one declared file. `name`: as the journal has it. */
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

/** As the journal names files: relative to the project where they are in it. */
function projectPath(absolute: string, { run }: Frame): string {
  const relative = path.relative(run.settings.projectRoot, absolute);
  return relative.startsWith('..') || path.isAbsolute(relative) ? absolute : relative.replaceAll(path.sep, '/');
}
