/** Renders `mlld journal postmortem`: what happened, where, what is lost, how to continue. */
import type { NodeProgress } from '../../../replay/pipeline/progress.js';
import type { ChainLink, PostMortemReport } from '../../../src/api/reports/postmortem.js';
import type { LaneNow, DispatchStop } from '../../../replay/reports/postmortem/dispatch-state.js';
import type { CountedStatus } from '../../../replay/fold/reported-status.js';
import { teamLines } from '../team-calls.js';
import { counted } from './garbage-collection.js';
import { isDone, isWhole, nextSteps } from './next-steps.js';
import { wrap, wrapAll } from '../wrap.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { causeIn, CAUSES, messageBehind } from '../causes.js';
import { resumeCommand, type RecordedCommand } from '../resume-command.js';
import { costOrDash, duration, knownCost, money, time } from '../units.js';

const PREVIEW_UNITS_MAX = 60;
const MESSAGE_UNITS_MAX = 160;
const IN_FLIGHT_SHOWN = 10;
const GROUPS_SHOWN = 20;

const ENDINGS: { readonly [S in CountedStatus]: string } = {
  completed: 'completed',
  incomplete: 'reached its end, but calls of it have no result',
  failed: 'failed',
  interrupted: 'was interrupted',
  'timed-out': 'timed out',
  paused: 'was paused',
  restarted: 'was continued as another run',
  running: 'is still running',
  crashed: 'crashed: the process ended without recording why (killed, out of memory, power)',
};

export function renderPostMortem(report: PostMortemReport, style: Style): string {
  const texts = [
    headOf(report, style),
    chainOf(report, style),
    nodesOf(report, style),
    inFlightOf(report),
    stopOf(report, style),
    lanesOf(report, style),
    unsettledOf(report),
    failuresOf(report, style),
    laterRunOf(report),
    report.serves ? [] : report.pipeline ? pipelineResumeOf(report) : resumeOf(report),
  ];
  // Commands are to be copied, so that no line of them is broken.
  const sections = [...texts.map((lines) => wrapAll(lines, style)), nextOf(report, style)];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(''))
    .join('\n');
}

/** Returns a line about a run that did not complete, for standard error: the results that are recorded, and what failed. */
export function renderKept(report: PostMortemReport): string {
  const { failures, resume } = report;
  const failed = failures.length === 0 ? '' : `; ${countedCauses(report)}`;
  return `  ${oneLine(`${counted(resume.kept, 'result')} kept${failed}${checkpointOf(report)}`)}\n`;
}

/** Returns the lines behind it: how to resume the run, unless its summary says that, and where to look. */
export function renderResumeAdvice(run: string, command: RecordedCommand | undefined): string {
  const lines = [...(command ? [`resume: ${resumeCommand(command)}`] : []), `look at it: mlld journal postmortem ${run}`];
  return lines.map((line) => `  ${oneLine(line)}\n`).join('');
}

/** `Stopped by Ctrl-C. 50 results kept; continue: mlld run patrol --resume`, and where to look. */
export function renderStopped(stopped: string, run: string, report: PostMortemReport | undefined, command: RecordedCommand): string {
  const kept = report === undefined ? '' : `${counted(report.resume.kept, 'result')} kept${checkpointOf(report)}; `;
  return `${oneLine(`${stopped} ${kept}continue: ${resumeCommand(command)}`)}\n${renderResumeAdvice(run, undefined)}`;
}

function headOf(report: PostMortemReport, style: Style): string[] {
  const { workflow, run, status, startedMs, durationMs, error, torn, events, serves, salvaged, unresolvedBefore } = report;
  const when = startedMs === undefined ? '' : `, started ${time(startedMs)}`;
  const took = durationMs === undefined ? '' : `, after ${duration(durationMs)}`;
  const colour = isWhole(report) ? style.green : status === 'running' || status === 'completed' ? style.yellow : style.red;
  const lines = [
    style.bold(`${subjectOf(report)} ${colour(endingOf(report))}`),
    `  run ${run} of ${workflow}${when}${took}, ${events} events`,
  ];
  if (serves !== undefined) lines.push(`  ${servedBy(serves, events === 0 && status !== 'running')}`);
  if (error !== undefined) {
    lines.push(`  ${error.code}: ${oneLine(error.message)}`);
    if (error.place !== undefined)
      lines.push(`    at ${error.place}${error.source === undefined ? '' : `  ${style.dim(oneLine(error.source))}`}`);
  }
  lines.push(...costOf(report), ...teamLines(report.team).map((line) => `  ${line}`));
  for (const each of salvaged) lines.push(`  ${salvagedLine(each)}`);
  if (unresolvedBefore > 0)
    lines.push(
      style.yellow(
        `  ${counted(unresolvedBefore, 'call')} of earlier runs that it builds on ${unresolvedBefore === 1 ? 'has' : 'have'} no result`,
      ),
    );
  if (torn) lines.push('  the last line of its journal is cut off: it was killed while it wrote; nothing that was promised is lost');
  return lines;
}

function endingOf(report: PostMortemReport): string {
  if (report.salvaged.length > 0) return 'was sealed while its process did not answer; that went on later, and was stopped';
  return ENDINGS[report.status === 'completed' && !isWhole(report) ? 'incomplete' : report.status];
}

function salvagedLine({ run, calls, costUsd }: PostMortemReport['salvaged'][number]): string {
  const cost = costUsd === null ? '' : `, and cost ${money(costUsd)}`;
  return `${counted(calls, 'call')} that ${calls === 1 ? 'was' : 'were'} in flight ended later: run ${run} has what came of ${calls === 1 ? 'it' : 'them'}${cost}`;
}

function subjectOf({ name, workflow, serves }: PostMortemReport): string {
  if (serves === undefined) return name ?? workflow;
  return serves.as === 'salvage' ? 'The record of a sealed run' : `A run of ${workerOf(serves)}`;
}

function workerOf({ worker }: NonNullable<PostMortemReport['serves']>): string {
  return worker === undefined ? 'a worker' : `the worker ${oneLine(worker)}`;
}

/** A worker records that a call begins before it does, so that without an event nothing was executed. */
function servedBy({ as, run }: NonNullable<PostMortemReport['serves']>, isUnused: boolean): string {
  const other = run === undefined ? 'a run that was removed' : `run ${run}`;
  if (as === 'salvage') return `it holds what the calls of ${other} ended with, and is not resumed`;
  return isUnused
    ? `it was made for calls of ${other}, and the worker ended before it began one: nothing is lost in it`
    : `it holds calls that the worker executed for ${other}, and is not resumed`;
}

/** A run whose attempts ended without a cost, or did not end, cost at least what is known. calls.md 10.6. */
function costOf(report: PostMortemReport): string[] {
  const { attempts, executed, unpriced, savedUsd } = report;
  if (attempts + executed === 0) return [];
  const unknown = unpriced === 0 ? '' : `; the cost of ${counted(unpriced, 'attempt')} is not known`;
  const costUsd = knownCost(report);
  const cost = costUsd === null ? 'cost unknown' : `cost ${unpriced === 0 ? '' : 'at least '}${money(costUsd)}${unknown}`;
  return [`  ${cost}${savedUsd === null ? '' : `, and ${money(savedUsd)} saved`}`];
}

/** Kinds of operations that the list of nodes shows already. */
const OF_NODES: ReadonlySet<string> = new Set(['node', 'branch', 'attempt']);

function chainOf({ chain, status, pipeline }: PostMortemReport, style: Style): string[] {
  if (chain.length === 0 || (pipeline && chain.every(({ kind }) => OF_NODES.has(kind)))) return [];
  const title = status === 'running' || status === 'crashed' ? 'Where it is' : 'Path to the failure';
  return [style.bold(title), ...chain.map((link, depth) => `  ${'  '.repeat(Math.min(depth, 10))}${linkOf(link, style)}`)];
}

function linkOf({ kind, name, item, site, source, op }: ChainLink, style: Style): string {
  const what =
    kind === 'exe'
      ? `@${name ?? op}`
      : kind.endsWith(':iteration')
        ? op.slice(op.lastIndexOf('/') + 1)
        : `${kind}${name === undefined ? '' : ` ${name}`}`;
  const about = item === undefined ? '' : ` with ${clip(oneLine(item), PREVIEW_UNITS_MAX)}`;
  const where = site === undefined ? '' : `  ${style.dim(site)}`;
  return `${what}${about}${where}${source === undefined ? '' : `  ${style.dim(oneLine(source))}`}`;
}

const NODES_SHOWN = 15;

function nodesOf({ pipeline, status }: PostMortemReport, style: Style): string[] {
  if (!pipeline) return [];
  const { nodes, unmetGate, questions } = pipeline;
  const earlier = nodes.length - NODES_SHOWN;
  const lines = [
    style.bold('Nodes'),
    ...(earlier > 0 ? [`  ${earlier} earlier`] : []),
    ...nodes.slice(-NODES_SHOWN).map((node) => nodeOf(node, status === 'running', style)),
  ];
  if (unmetGate !== undefined) lines.push(`The goal gate ${unmetGate} is not met, and the pipeline names no node to return to.`);
  for (const { id, node, text, options, waitedMs } of questions) {
    const choices = options.map(({ label }) => label).join(' / ');
    lines.push(`${node} asks (${id}, for ${duration(waitedMs)}): ${clip(oneLine(`${text} ${choices}`), MESSAGE_UNITS_MAX)}`);
  }
  return lines;
}

/** Nodes inside a branch are indented. */
function nodeOf({ op, node, visit, status, attempts, durationMs, reason }: NodeProgress, isLive: boolean, style: Style): string {
  const colour = status === 'success' || status === 'partial_success' ? style.green : status === 'running' ? style.yellow : style.red;
  const times = attempts === 1 ? '' : ` ${attempts} attempts,`;
  const again = visit === 0 ? '' : ` (visit ${visit + 1})`;
  const why = reason === '' ? '' : `: ${clip(oneLine(reason), MESSAGE_UNITS_MAX)}`;
  const depth = Math.max(op.split('/').length - 2, 0); // a path that names no node, as another program may have written it
  return `  ${'  '.repeat(depth)}${node}${again} ${colour(status === 'running' && !isLive ? 'unfinished' : status)},${times} ${duration(durationMs)}${why}`;
}

/** Names the later run with the same payload: a resume now continues that one. */
function laterRunOf({ since }: PostMortemReport): string[] {
  if (since === null) return [];
  return since.status === 'completed'
    ? [`Run ${since.run} has resumed it to its end since, or ran to its end with the same payload: nothing is left to resume.`]
    : [`Run ${since.run} came after it with the same payload, or continues it, and ${ENDINGS[since.status]}.`];
}

function pipelineResumeOf({ pipeline, since, status }: PostMortemReport): string[] {
  const { resume, nodes } = pipeline ?? {};
  if (!resume || !nodes || since !== null || status === 'completed') return [];
  const ended = nodes.filter((node) => node.status !== 'running' && node.op.split('/').length === 2);
  const kept = resume.place === 'at' && ended.at(-1)?.node === resume.node ? ended.length - 1 : ended.length;
  const before = kept === 1 ? 'the visit before it is kept' : `the ${kept} visits before it are kept`;
  return [`Resuming continues ${resume.place} ${resume.node}${kept === 0 ? '' : `; ${before}`}.`];
}

function inFlightOf(report: PostMortemReport): string[] {
  const { checkpoint, status, pipeline, serves } = report;
  const inFlight = report.inFlight.filter(({ kind }) => !pipeline || !OF_NODES.has(kind));
  const lines: string[] = [];
  if (checkpoint !== undefined) lines.push(`Last checkpoint: "${oneLine(checkpoint.name)}" (event ${checkpoint.seq})`);
  else if (!pipeline && !serves && status !== 'completed') lines.push('No checkpoint was reached.');
  if (inFlight.length > 0) lines.push(`${status === 'running' ? 'In flight' : 'Was in flight'}:`);
  for (const pending of inFlight.slice(0, IN_FLIGHT_SHOWN)) {
    const { what, preview, phase, op } = pending;
    lines.push(
      `  ${what}${preview === undefined ? '' : `(${clip(oneLine(preview), PREVIEW_UNITS_MAX)})`}${phase === undefined ? '' : ` [${oneLine(phase)}]`} ${sinceWhen(pending)}  ${op}`,
    );
  }
  return [...lines, ...moreThan(inFlight.length, IN_FLIGHT_SHOWN)];
}

/** An offered call is executed elsewhere, or not at all: for how long is not known to the run. */
function sinceWhen({ offered, worker, durationMs, salvagedIn, waits, unjudged }: PostMortemReport['inFlight'][number]): string {
  if (salvagedIn !== undefined) return `ended in run ${salvagedIn}`;
  if (waits === true) return `for ${duration(durationMs)}, waiting for its next attempt`;
  if (unjudged === true) return `for ${duration(durationMs)}, its result waiting for its guards`;
  if (offered !== true) return `for ${duration(durationMs)}`;
  const begun = worker === undefined ? 'which no worker had begun' : `which the worker ${oneLine(worker)} had begun`;
  return `offered to workers, ${begun}`;
}

/** Says what stopped the run from starting attempts. */
function stopOf({ pause, status }: PostMortemReport, style: Style): string[] {
  if (pause === null) return [];
  const where = pause.lane === null ? '' : ` in the lane ${oneLine(pause.lane)}`;
  const when = pause.resetsAt === null ? '' : `; resets ${time(Date.parse(pause.resetsAt))}`;
  return [
    style.yellow(`${status === 'paused' ? 'Paused' : 'No attempt was started any more'}${where}: ${STOPS[pause.class]}${when}`),
    `  ${clip(oneLine(pause.message), MESSAGE_UNITS_MAX)}`,
  ];
}

/** Names the lanes that held the run up. */
function lanesOf({ lanes }: PostMortemReport, style: Style): string[] {
  const limited = lanes.filter(isLimited);
  if (limited.length === 0) return [];
  return [style.bold('Lanes'), ...limited.slice(0, GROUPS_SHOWN).map(laneOf), ...moreThan(limited.length, GROUPS_SHOWN)];
}

/** Names the costs that nobody settled. */
function unsettledOf({ unsettled }: PostMortemReport): string[] {
  if (unsettled === null) return [];
  const sums = [
    ...(unsettled.usd === null ? [] : [money(unsettled.usd)]),
    ...(unsettled.tokens === null ? [] : [`${unsettled.tokens} tokens`]),
  ];
  const reserved = sums.length === 0 ? 'no known cost' : sums.join(' and ');
  return [`Unsettled: ${counted(unsettled.attempts, 'attempt')} in flight had reserved ${reserved}; the real cost is unknown.`];
}

const STOPS: { readonly [C in DispatchStop['class']]: string } = {
  quota: 'quota used up',
  auth: 'not authorised',
  budget: 'the budget is reached',
  stalled: 'nothing but rejected attempts',
  journal: 'the journal could not be written',
  store: 'the store refused the run',
};

/** A lane that only grew explains nothing: a rejection leaves a ceiling or a gap, and a hold or a stop has its reason. */
function isLimited({ ceiling, gapMs, heldUntil, stopped }: LaneNow): boolean {
  return ceiling !== null || (gapMs ?? 0) > 0 || heldUntil !== null || stopped !== null;
}

function laneOf({ lane, limit, ceiling, gapMs, heldUntil, stopped }: LaneNow): string {
  const facts = [
    limit === null ? '- in flight' : `at most ${limit} in flight${ceiling === null ? '' : ` (never more than ${ceiling} were accepted)`}`,
    ...(gapMs === null || gapMs === 0 ? [] : [`${duration(gapMs)} between starts`]),
    ...(heldUntil === null ? [] : [`held until ${time(Date.parse(heldUntil))}`]),
    ...(stopped === null ? [] : [`stopped: ${STOPS[stopped]}`]),
  ];
  return `  ${oneLine(lane)}: ${facts.join(', ')}`;
}

function failuresOf({ failures, hookErrors, denials }: PostMortemReport, style: Style): string[] {
  const lines: string[] = [];
  if (failures.length > 0) lines.push(style.bold('Failures by cause'));
  for (const { cause, what, count, message, op } of failures.slice(0, GROUPS_SHOWN)) {
    const reason = clip(oneLine(messageBehind(cause, message)), MESSAGE_UNITS_MAX);
    lines.push(`  ${count} x ${causeIn(cause, what)}: ${reason}`, `      first in ${op}`);
  }
  lines.push(...moreThan(failures.length, GROUPS_SHOWN));
  if (hookErrors.length > 0) lines.push(style.bold('Errors in hooks'));
  for (const { hook, timing, filter, error, count, op } of hookErrors.slice(0, GROUPS_SHOWN)) {
    lines.push(`  ${count} x ${hook} ${timing} ${filter}: ${clip(oneLine(error), MESSAGE_UNITS_MAX)}, first in ${op}`);
  }
  if (denials.length > 0) lines.push(style.bold('Denied by guards'));
  for (const { guard, timing, filter, reason, count, op } of denials.slice(0, GROUPS_SHOWN)) {
    lines.push(
      `  ${count} x ${guard} ${timing} ${filter}${reason === undefined ? '' : `: ${clip(oneLine(reason), MESSAGE_UNITS_MAX)}`}, first in ${op}`,
    );
  }
  return lines;
}

function resumeOf(report: PostMortemReport): string[] {
  if (isDone(report)) return [];
  const { resume } = report;
  const { reused, unresolved, notStarted, isPart, durationMs, costUsd, unpriced, comparedWith } = resume;
  const again = unresolved.filter((call) => call.why !== 'unjudged');
  const why = [...new Set(again.map((call) => call.why))].map(
    (word) => `${again.filter((call) => call.why === word).length} ${word.replaceAll('-', ' ')}`,
  );
  const judged = unresolved.length - again.length;
  const waiting = judged === 0 ? '' : `, has guards judge ${counted(judged, 'received result')},`;
  const estimated = comparedWith === undefined ? 'from its unfinished loops' : `if it makes as many calls as run ${comparedWith}`;
  const lines = [
    `Resuming reuses ${counted(reused, 'result')}${waiting} and makes ${isPart ? 'at least ' : ''}${counted(again.length + notStarted, 'call')}:`,
  ];
  if (again.length + notStarted > 0) {
    const notYet = notStarted === 0 ? '' : `, ${notStarted} not started yet (estimated ${estimated})`;
    lines.push(`  ${again.length} again${why.length === 0 ? '' : ` (${why.join(', ')})`}${notYet}`);
  }
  if (isPart) {
    const isEndUnknown = comparedWith === undefined && report.status !== 'completed';
    const reason = isEndUnknown ? 'no completed run tells what comes after them: calls' : 'more calls may follow: those';
    lines.push(`  ${reason} that no run has made yet are not counted`);
  }
  if (durationMs !== undefined) {
    lines.push(
      `  about ${duration(durationMs)} at the concurrency of this run${costUsd === undefined ? unknownCost(unpriced) : `, and ${costOrDash({ costUsd, unpriced })}`}`,
    );
  }
  return lines;
}

function unknownCost(unpriced: number): string {
  return unpriced === 0 ? '; no call reported its cost' : '; the cost is not known';
}

function nextOf(report: PostMortemReport, style: Style): string[] {
  const steps = nextSteps(report);
  if (steps.length === 0) return [];
  const width = Math.max(...steps.map(([command]) => command.length));
  const besides = steps.map(([command, what]) => `  ${oneLine(command).padEnd(width)}  ${style.dim(`# ${what}`)}`);
  const isRoom = besides.every((line) => wrap(line, style).length === 1);
  const below = steps.flatMap(([command, what]) => [`  ${oneLine(command)}`, `    ${style.dim(`# ${what}`)}`]);
  return [style.bold('To continue'), ...(isRoom ? besides : below)];
}

function countedCauses({ failures }: PostMortemReport): string {
  const counts = new Map<string, number>();
  for (const { cause, count } of failures) counts.set(CAUSES[cause], (counts.get(CAUSES[cause]) ?? 0) + count);
  return `failed: ${[...counts].map(([cause, count]) => `${count} x ${cause}`).join(', ')}`;
}

function checkpointOf({ checkpoint }: PostMortemReport): string {
  return checkpoint === undefined ? '' : `; last checkpoint "${checkpoint.name}"`;
}

function moreThan(count: number, shown: number): string[] {
  return count > shown ? [`  and ${count - shown} more`] : [];
}
