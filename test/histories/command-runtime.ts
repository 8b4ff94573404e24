/** Runs the same project by the built command; a kill is a signal that the process sends to itself during a call. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { openFileStore } from '../../journal/storage/file-store.js';
import { findProject, workflowFor } from '../../src/session/project.js';
import { runCli } from '../support/cli.js';
import { seenEvents } from './events.js';
import { renderScript } from './render.js';
import { forkOf, openProject, questionsIn, type Runtime } from './runtime.js';
import type { Library } from './script.js';
import { targetText } from './target.js';
import type { Command } from './model.js';

/** Few, because runs would end before otherwise; a kill counts calls here, not events. */
const QUESTIONS_BEFORE_A_KILL = 3;

export async function openCommandRuntime(library: Library): Promise<Runtime> {
  const folder = await openProject(library);
  const project = await findProject(folder);
  const store = openFileStore(folder);
  const asked = new Map<string, string>();
  return {
    write: (name, script) => fs.writeFile(path.join(folder, `${name}.mld`), renderScript(script)),
    break: (questions) => fs.writeFile(path.join(folder, 'broken.json'), JSON.stringify(questions)),
    async clean(name) {
      const { status, stderr } = await runCli(['checkpoint', 'clean', name], { cwd: folder });
      if (status !== 0) throw new Error(`mlld checkpoint clean ${name}: ${stderr}`);
    },
    async run(command, killAt) {
      const before = await questionsIn(folder);
      const workflow = workflowFor(project, `${command.script}.mld`);
      const runsBefore = (await store.runs(workflow)).length;
      await fs.writeFile(
        path.join(folder, 'kill.txt'),
        killAt === undefined ? 'never' : String(before.length + 1 + (killAt % QUESTIONS_BEFORE_A_KILL)),
      );
      const { stdout, status } = await runCli(argumentsOf(command), { cwd: folder });
      const runs = await store.runs(workflow);
      const latest = runs.length > runsBefore ? runs.at(-1) : undefined;
      return {
        outcome: status === undefined ? 'killed' : status === 0 ? 'completed' : 'failed',
        output: stdout.split('\n').slice(0, -1),
        executed: (await questionsIn(folder)).slice(before.length),
        events: latest && (await seenEvents(store, latest.ref, asked)),
      };
    },
    close: () => fs.rm(folder, { recursive: true, force: true }),
  };
}

export function argumentsOf(command: Command): string[] {
  const { script, checkpoint, fresh, resume } = command;
  const fork = forkOf(command);
  return [
    `${script}.mld`,
    ...(checkpoint ? ['--checkpoint'] : []),
    ...(fresh ? ['--fresh'] : []),
    ...(resume === undefined ? [] : resume.kind === 'everything' ? ['--resume'] : ['--resume', targetText(resume)]),
    ...(fork === undefined ? [] : ['--fork', fork]),
  ];
}
