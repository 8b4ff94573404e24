/** Executes `checkpoint`: records that a point was reached, and opens a scope for reuse. checkpoint-resume.md 9 and 11.2. */
import type { Checkpoint } from '../../../grammar/ast.js';
import { MlldError, type SourceLocation } from '../../errors.js';
import { isTruthy } from '../../values/truth.js';
import { textOf } from '../../values/text.js';
import { dataOf } from '../../values/value.js';
import type { Completion } from '../../runtime/completion.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { durationOf } from '../../values/durations.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame, RunState } from '../../runtime/frame.js';

export async function executeCheckpoint(node: Checkpoint, frame: Frame): Promise<Completion> {
  const { run } = frame;
  const location = locationOf(frame.module, node.at);
  const name = textOf(await frame.evaluate(node.name, frame)).trim();
  await beginCheckpoint(run, name, location);
  await openScope(run, name, await optionsOf(node, frame));
  const complete = node.options.find((option) => option.name === 'complete')?.value;
  run.closeCheckpoint = async () => {
    const holds = complete ? { complete: isTruthy(await lenient(complete, frame)) } : {};
    await run.recorder.append({ type: 'checkpoint.closed', name, ...holds });
  };
  return undefined;
}

/** Opens a scope for reuse that lasts until the next checkpoint, without a condition. Throws CHECKPOINT_NAME and CHECKPOINT_TWICE. */
export async function reachCheckpoint(run: RunState, name: string, options: Omit<ScopeOptions, 'hasComplete'>): Promise<void> {
  await beginCheckpoint(run, name);
  await openScope(run, name, { ...options, hasComplete: false });
  run.closeCheckpoint = async () => void (await run.recorder.append({ type: 'checkpoint.closed', name }));
}

async function beginCheckpoint(run: RunState, name: string, location?: SourceLocation): Promise<void> {
  if (name === '') throw new MlldError('CHECKPOINT_NAME', 'A checkpoint needs a name that is not empty', { location });
  if (run.checkpoints.has(name)) {
    throw new MlldError('CHECKPOINT_TWICE', `checkpoint "${name}" is registered twice in this run`, {
      location,
      hint: 'give it another name: names of checkpoints are unique, in modules too',
    });
  }
  await run.closeCheckpoint?.();
  run.checkpoints.add(name);
}

async function openScope(run: RunState, name: string, options: ScopeOptions): Promise<void> {
  run.cache.enterScope({ name, ...options });
  const { hasComplete, ...recorded } = options;
  await run.recorder.append({ type: 'checkpoint.reached', name, ...recorded, ...(hasComplete ? { conditional: true } : {}) });
}

interface ScopeOptions {
  readonly resume?: 'auto' | 'manual' | 'never';
  readonly ttlMs?: number;
  readonly hasComplete: boolean;
}

async function optionsOf(node: Checkpoint, frame: Frame): Promise<ScopeOptions> {
  let options: ScopeOptions = { hasComplete: false };
  for (const { name, value, at } of node.options) {
    const location = locationOf(frame.module, at);
    switch (name) {
      case 'complete':
        options = { ...options, hasComplete: true };
        break;
      case 'ttl':
        options = { ...options, ttlMs: durationOf(await frame.evaluate(value, frame), location) };
        break;
      case 'resume': {
        const mode = String(dataOf(await frame.evaluate(value, frame))).toLowerCase();
        if (mode !== 'auto' && mode !== 'manual' && mode !== 'never') {
          throw new MlldError('CHECKPOINT_OPTION', `resume: ${mode} is not a mode`, { location, hint: 'write auto, manual or never' });
        }
        options = { ...options, resume: mode };
        break;
      }
      default:
        throw new MlldError('CHECKPOINT_OPTION', `Unknown option of a checkpoint: ${name}`, {
          location,
          hint: 'the options are resume, ttl and complete',
        });
    }
  }
  return options;
}
