/** `mlld answer RUN CHOICE`: answers a question that a running pipeline waits for. */
import type { Command } from 'commander';
import type { Io } from '../terminal/io.js';
import { projectStore } from '../project-store.js';
import { examples } from '../render/examples.js';

export function addAnswerCommand(program: Command, io: Io): void {
  program
    .command('answer')
    .description('answer a question of a running pipeline (mlld run FILE.dot --ask remote)')
    .argument('<run>', 'the run: its id or a beginning of it, a pipeline by name (its latest run), or latest (the latest that waits)')
    .argument('<choice>', 'key or label of the choice')
    .option('--question <id>', 'which question, when several are open (default: the one that has waited longest)')
    .addHelpText(
      'after',
      examples(['mlld answer latest O', 'mlld answer release O', 'mlld answer 20260412-081502-221-5c1e "Keep shut" --question q2']),
    )
    .action(async (run: string, text: string, { question: id }: { readonly question?: string }) => {
      const { answerQuestion, runToAnswer } = await import('../../src/session/pipeline/answer-question.js');
      const { project, store } = await projectStore(io);
      const meant = await runToAnswer(store, project, run);
      const { question, choice } = await answerQuestion({
        store,
        project,
        run: meant,
        text,
        ...(id === undefined ? {} : { question: id }),
      });
      io.stdout(`${question.id} (${question.text}): ${choice.label}\n`);
    });
}
