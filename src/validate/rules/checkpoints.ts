/** Checks the positions and names of checkpoints. checkpoint-resume.md 9.3 and 9.4. */
import type { Checkpoint, Script } from '../../../grammar/ast.js';
import { locate } from '../../../grammar/parse.js';
import { misplacedCheckpoints, writtenName } from '../../language/statements/checkpoint-positions.js';
import type { Rule } from '../rule.js';
import { topLevel } from '../top-level.js';

export const checkpointPlacesRule: Rule = {
  code: 'checkpoint-place',
  list: 'errors',
  *check({ script }) {
    for (const checkpoint of misplacedCheckpoints(script)) {
      const name = writtenName(checkpoint);
      const subject = name === undefined ? 'checkpoint' : `checkpoint "${name}"`;
      yield { at: checkpoint.at, message: `${subject} is only allowed at top level or as a direct => result of a top-level when` };
    }
  },
};

/** Reports two of one name even in branches of which only one is taken: a resume by this name would be ambiguous. */
export const checkpointNamesRule: Rule = {
  code: 'checkpoint-twice',
  list: 'errors',
  *check({ script, text }) {
    const first = new Map<string, number>();
    for (const { name, at } of literalCheckpoints(script)) {
      const known = first.get(name);
      if (known === undefined) first.set(name, at);
      else
        yield {
          at,
          message: `checkpoint "${name}" is already in line ${locate(text, known).line}`,
          hint: 'give it another name: names of checkpoints are unique',
        };
    }
  },
};

/** Returns the checkpoints in an allowed position whose names do not depend on a run. */
export function literalCheckpoints(script: Script): readonly { readonly name: string; readonly at: number }[] {
  return topLevel(script)
    .flatMap((statement): readonly Checkpoint[] => {
      if (statement.kind === 'checkpoint') return [statement];
      if (statement.kind !== 'when') return [];
      return statement.entries.flatMap((entry) => (entry.kind === 'arm' && entry.action.kind === 'checkpoint' ? [entry.action] : []));
    })
    .flatMap((checkpoint) => {
      const name = writtenName(checkpoint);
      return name === undefined ? [] : [{ name, at: checkpoint.at }];
    });
}
