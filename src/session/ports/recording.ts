/** Decides from flags and script whether a run records, and under which path. */
import type { Script, Statement } from '../../../grammar/ast.js';
import { cachePolicy } from '../../../replay/memo/policy.js';
import { MlldError } from '../../errors.js';
import type { CacheRequest, RunOptions } from '../script/run-options.js';

/** `not-requested`: no flag and no option of the script requests a record. `declined`: a flag or the script forbids one. */
export type RefusedRecording = 'not-requested' | 'declined';

/** Undefined when the run may record. */
export function refusedRecording({ cache }: RunOptions, script: Script): RefusedRecording | undefined {
  if (mayRecord(cache, script)) return undefined;
  return cache.noCheckpoint || script.resume === 'never' ? 'declined' : 'not-requested';
}

/** Warns about flags that have no effect, because the header of the script says `resume: never`. */
export function ignoredFlagsWarning({ cache }: RunOptions): string | undefined {
  const flags = recordingFlags(cache);
  return flags.length === 0
    ? undefined
    : `warning: ${flags.join(' and ')} had no effect: the script says resume: never; --resume overrides that`;
}

function recordingFlags({ noCheckpoint, checkpoint, fresh, forks = [], changed, keepFiles, keepOrphans }: CacheRequest): readonly string[] {
  if (noCheckpoint === true) return [];
  const flags: readonly (readonly [string, boolean])[] = [
    ['--checkpoint', checkpoint === true],
    ['--fresh', fresh === true],
    ['--fork', forks.length > 0],
    ['--changed', changed !== undefined],
    ['--keep-files', keepFiles === true],
    ['--keep-orphans', keepOrphans === true],
  ];
  return flags.flatMap(([flag, isSet]) => (isSet ? [flag] : []));
}

/** Without any flag, a checkpoint with `resume: auto` can still switch recording on. */
function mayRecord(cache: CacheRequest, script: Script): boolean {
  if (cache.noCheckpoint) return false;
  if (cachePolicy({ flags: cache, header: script.resume, scope: undefined }).records) return true;
  const isAuto = (statement: Statement): boolean => {
    if (statement.kind === 'fence') return statement.statements.some(isAuto);
    if (statement.kind === 'when')
      return statement.entries.some((entry) => entry.kind === 'arm' && entry.action.kind === 'checkpoint' && isAuto(entry.action));
    if (statement.kind !== 'checkpoint') return false;
    return statement.options.some(
      ({ name, value }) => name === 'resume' && (value.kind !== 'literal' || String(value.value).toLowerCase() === 'auto'),
    );
  };
  return script.statements.some(isAuto);
}

/**
 * Returns the path that the record goes by. Throws SCRIPT_UNNAMED for a text without a name: two such texts are not the same script, and
 * must not share results.
 */
export function recordPath(script: RunOptions['script']): string {
  const path = script.kind === 'file' ? script.path : script.recordAs;
  if (path !== undefined) return path;
  throw new MlldError('SCRIPT_UNNAMED', 'A record was requested, but the script is a text without a name', {
    hint: 'save it in a file; in a program, give the text a name: name: "nightly.mld"',
  });
}
