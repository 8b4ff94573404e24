/** Plays a history against the runtime and the model, and reports a disagreement so that it can be repeated by hand. */
import { Disagreement, Model, type Command, type Observed } from './model.js';
import type { History, Turn } from './any-history.js';
import { edited } from './script.js';
import { renderLibrary, renderScript } from './render.js';
import { argumentsOf } from './command-runtime.js';
import type { Runtime } from './runtime.js';

export interface Played {
  readonly runs: number;
  readonly kills: number;
  /** Commands that were no run, since a target or a source could not be resolved. */
  readonly refused: number;
  readonly executed: number;
  readonly served: number;
}

/** Rejects with a `Disagreement` that holds the whole history. */
export async function checkHistory(history: History, open: () => Promise<Runtime>): Promise<Played> {
  const runtime = await open();
  const played = { runs: 0, kills: 0, refused: 0, executed: 0, served: 0 };
  const story: string[] = [file('lib.mld', renderLibrary(history.library))];
  try {
    const model = new Model(history.job, edited(history.job, history.collect), history.library);
    for (const name of ['job', 'collect'] as const) await write(name);
    for (const turn of history.turns) await play(turn);
    return played;

    async function write(name: 'job' | 'collect'): Promise<void> {
      await runtime.write(name, model.scripts[name]);
      story.push(file(`${name}.mld`, renderScript(model.scripts[name])));
    }

    function count({ outcome, executed, events = [] }: Observed): void {
      played.runs++;
      if (outcome === 'killed') played.kills++;
      if (outcome === 'failed' && events.length + executed.length === 0) played.refused++;
      played.executed += executed.length;
      played.served += events.filter((event) => event.startsWith('served')).length;
    }

    async function play(turn: Turn): Promise<void> {
      switch (turn.kind) {
        case 'edit':
          model.edit(turn.script, turn.edits);
          return write(turn.script);
        case 'break':
          story.push(`echo '${JSON.stringify(turn.questions)}' > broken.json`);
          model.broken = turn.questions;
          return runtime.break(turn.questions);
        case 'clean':
          story.push(`mlld checkpoint clean ${turn.script}`);
          model.clean(turn.script);
          return runtime.clean(turn.script);
        case 'run': {
          story.push(commandLine(turn.command) + (turn.killAt === undefined ? '' : `   # killed at event ${turn.killAt}`));
          const observed = await runtime.run(turn.command, turn.killAt);
          count(observed);
          try {
            model.follow(turn.command, observed);
          } catch (error) {
            if (!(error instanceof Disagreement)) throw error;
            story.push(`>>> ${error.message}`);
            throw new Disagreement(`\n${story.join('\n')}\n${told(observed)}`, { cause: error });
          }
          story.push(...told(observed).split('\n'));
        }
      }
    }
  } finally {
    await runtime.close();
  }
}

function commandLine(command: Command): string {
  const quoted = argumentsOf(command).map((word) => (/^[\w.-]+$/.test(word) ? word : `'${word}'`));
  return `$ mlld ${quoted.join(' ')}`;
}

function told({ outcome, error, output, events }: Observed): string {
  const lines = [
    ...(events ?? ['(nothing is recorded)']),
    ...output.map((line) => `shown: ${line}`),
    error === undefined ? outcome : `${outcome}: ${error}`,
  ];
  return lines.map((line) => `    ${line}`).join('\n');
}

/** Without the functions that nothing uses. */
function file(name: string, text: string): string {
  const statements = text.trimEnd().split(/\n(?! |\])/);
  const kept = new Set<string>();
  for (let before = -1; before < kept.size;) {
    before = kept.size;
    const uses = [...kept].join('\n');
    for (const statement of statements) {
      const declared = /^exe (?:llm )?@(\w+)|^import \{ @(\w+)/.exec(statement);
      const fn = declared?.[1] ?? declared?.[2];
      if (fn === undefined || uses.includes(`@${fn}`) || (fn === 'scan' && name === 'lib.mld')) kept.add(statement);
    }
  }
  return [`--- ${name}`, ...statements.filter((statement) => kept.has(statement)), '---'].join('\n');
}
