/** Words the commands that continue or inspect a run that is not done, each with what it does. */
import type { PostMortemReport } from '../../../src/api/reports/postmortem.js';
import { isUpload } from '../../../src/api/commands/project.js';
import { choiceLine } from '../../../src/api/reports/choices.js';
import { answersTo, isAnsweredFromElsewhere } from '../question.js';
import { pipelineAgainCommand, pipelineAnewCommand, pipelineResumeCommand, resumeCommand } from '../resume-command.js';
import { shownWords } from '../shown-words.js';

/** The most useful first; none for a run that is done. */
export function nextSteps(report: PostMortemReport): readonly (readonly [string, string])[] {
  const { run, status, chain, since, serves } = report;
  if (isDone(report)) return report.pipeline && !isWhole(report) && report.since === null ? againSteps(report) : [];
  if (report.pipeline && since?.status === 'incomplete') return againSteps(report);
  const inner = chain.at(-1);
  const steps: (readonly [string, string])[] =
    status === 'running'
      ? [...answersOf(report), [`mlld journal show ${run} --follow`, 'watch it']]
      : serves !== undefined
        ? stepsOfServed(serves)
        : since === null
          ? resumeSteps(report)
          : since.status === 'running'
            ? [[`mlld journal show ${since.run} --follow`, 'watch the run that came after it']]
            : [[`mlld journal postmortem ${since.run}`, 'why the run that came after it ended, and how to continue']];
  if (inner !== undefined)
    steps.push([shownWords(['mlld', 'journal', 'show', run, '--op', inner.op]), 'the events of the innermost operation']);
  return steps;
}

/** A run that holds calls of another one is not resumed: the other one is. */
function stepsOfServed({ run }: NonNullable<PostMortemReport['serves']>): (readonly [string, string])[] {
  return run === undefined ? [] : [[`mlld journal postmortem ${run}`, 'the run whose calls it holds, and how to continue that']];
}

export function isWhole({ status, unresolved, unresolvedBefore }: PostMortemReport): boolean {
  return status === 'completed' && unresolved + unresolvedBefore === 0;
}

/** The pipeline's own report says how a pipeline goes on. */
function isIncomplete({ status, unresolved, unresolvedBefore, pipeline }: PostMortemReport): boolean {
  return status === 'completed' && unresolved + unresolvedBefore > 0 && !pipeline;
}

export function isDone(report: PostMortemReport): boolean {
  return (report.status === 'completed' && !isIncomplete(report)) || report.since?.status === 'completed';
}

/**
 * Stages went on although calls failed: the pipeline reached its exit, and a resume finds nothing to do. The words of a run that resumed
 * another one lack what the first one was started with.
 */
function againSteps(report: PostMortemReport): (readonly [string, string])[] {
  const { argv, chainBegan } = report;
  const command = pipelineAgainCommand(report);
  const does = 'execute the calls without a result, and what follows from them';
  if (command !== undefined) return [[command, does], ...againFrom(report)];
  if (chainBegan !== null) return [[`mlld journal postmortem ${chainBegan}`, 'how the calls without a result are executed again']];
  return argv.length === 0 ? [] : [[pipelineAnewCommand(report), `${does}; add each --set of the first run`], ...againFrom(report)];
}

/** A stage whose function went on without a call inside it has a result, which a run from the start reuses. */
function againFrom(report: PostMortemReport): (readonly [string, string])[] {
  const [, node] = report.failures.map(({ op }) => INSIDE_STAGE.exec(op)).find((found) => found !== null) ?? [];
  if (node === undefined) return [];
  return [[pipelineResumeCommand(report, node), 'execute from there on, where a function went on without a call inside it']];
}

/** `main/NODE#0/try#1/model#0/ask#0` is a call inside the call of a stage. The node is that of the main path. */
const INSIDE_STAGE = /^main\/([^/[]+)#\d+.*\/model#\d+\//;

function resumeSteps(report: PostMortemReport): (readonly [string, string])[] {
  const { run, workflow, checkpoint, pipeline, resume } = report;
  if (pipeline)
    return [
      ...(isUpload(workflow) ? [[`POST /pipelines/${run}/resume`, 'continue, as a request to mlld serve'] as const] : []),
      [pipelineResumeCommand(report), 'continue'],
      ...pipeline.nodes.slice(-1).map(() => [pipelineResumeCommand(report, 'NODE'), 'continue at a node that was visited before'] as const),
      [drawCommand(report), 'draw the outcome of each node'],
    ];
  const target = resume.target === undefined ? [] : [resume.target];
  return [
    [resumeCommand(report, ...target), target.length > 0 ? 'execute the calls without a result' : 'continue'],
    [resumeCommand(report, ...target, '--plan'), 'print first what that would execute'],
    ...(checkpoint?.resumable === true
      ? [[resumeCommand(report, checkpoint.target), 'execute again what came after the last checkpoint'] as const]
      : []),
  ];
}

function drawCommand({ run, name, workflow }: PostMortemReport): string {
  return shownWords(['mlld', 'graph', 'render', name ?? workflow, '--run', run, '-o', `${run}.svg`]);
}

/** A command for each choice, so that each can be copied as it is. */
function answersOf(report: PostMortemReport): (readonly [string, string])[] {
  if (!isAnsweredFromElsewhere(report)) return [];
  return (report.pipeline?.questions ?? []).flatMap((question) => {
    const answers = answersTo(question);
    const commandOf = (answer: string): string => shownWords(['mlld', 'answer', report.run, answer, '--question', question.id]);
    if (answers.length === 0 || answers.length > CHOICES_SHOWN) return [[commandOf('CHOICE'), 'answer it'] as const];
    return answers.map((answer, place) => [commandOf(answer), `answer ${choiceLine(question.options[place] as Option)}`] as const);
  });
}

const CHOICES_SHOWN = 6;
type Option = NonNullable<PostMortemReport['pipeline']>['questions'][number]['options'][number];
