/** `mlld answer RUN CHOICE`: answers a question that a running pipeline waits for. */
import type { Io } from '../terminal/io.js';
import { oneLine } from '../render/one-line.js';
import { openProject } from './open-project.js';

export async function answer(
  io: Io,
  run: string,
  text: string | undefined,
  { question: id }: { readonly question?: string },
): Promise<void> {
  const { answerQuestion, runToAnswer } = await import('../../src/api/commands/answer.js');
  const { project, store } = await openProject(io);
  const meant = await runToAnswer(store, project, run);
  const { question, choice } = await answerQuestion({
    store,
    project,
    run: meant,
    text: text ?? '',
    ...(id === undefined ? {} : { question: id }),
  });
  io.stdout(`${oneLine(`${question.id} (${question.text}): ${choice.label}`)}\n`);
}
