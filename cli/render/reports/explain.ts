/** Prints `mlld journal explain` as text: counts, then a line per call. */
import { atHost, describeEdit, wordsOfAttempt } from '../../../src/api/commands/words.js';
import type { Hit } from '../../../replay/reports/explain/explain.js';
import type { Miss } from '../../../replay/reports/explain/miss.js';
import type { ReportedCall, Resembles, RunExplanation } from '../../../src/api/reports/explain.js';
import { wrapAll } from '../wrap.js';
import { clip, oneLine } from '../one-line.js';
import { isOfJavaScript, placeOfCall } from '../place-of-call.js';
import type { Style } from '../style.js';
import { duration, time } from '../units.js';

const PREVIEW_UNITS_MAX = 60;
const DIFFERENCES_SHOWN = 2;
const DIGEST_UNITS = 12;

export function renderExplanation({ workflow, run, modules, calls }: RunExplanation, style: Style): string {
  const head = `${run} of ${workflow}: ${calls.length === 0 ? 'no llm calls' : countsOf(calls)}`;
  return wrapAll([style.bold(head), ...modules.map(moduleLine), ...calls.map((call) => lineOf(call, run, style))], style)
    .map((line) => `${line}\n`)
    .join('');
}

/** `with @mlld/poll 1.3.0 (before: 1.2.0)`; a content without another version is named by its digest. */
function moduleLine({ name, version, sha256, before }: RunExplanation['modules'][number]): string {
  const shown = (one: { readonly version?: string; readonly sha256: string }): string =>
    oneLine(one.version ?? one.sha256.slice(0, DIGEST_UNITS));
  if (before && before.version === version)
    return `with ${name} ${version === undefined ? '' : `${oneLine(version)} `}of another content than before`;
  return `with ${name} ${shown({ ...(version !== undefined && { version }), sha256 })}${before ? ` (before: ${shown(before)})` : ''}`;
}

function countsOf(all: readonly ReportedCall[]): string {
  const calls = all.filter(({ madeAgain }) => madeAgain !== true);
  const reused = calls.filter(({ hit }) => hit !== undefined && hit.worker === undefined);
  const atWorkers = calls.filter(({ hit }) => hit?.worker !== undefined).length;
  const edited = reused.filter(({ hit }) => hit?.edited === true).length;
  const parts = [`${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`, `${reused.length} reused`];
  if (edited > 0) parts.push(`${edited} of them from before an edit`);
  const has = (wanted: ReportedCall['outcome']): number =>
    calls.filter(({ outcome, hit }) => hit === undefined && outcome === wanted).length;
  const [notExecuted, failed, denied, unfinished] = [has('not-executed'), has('failed'), has('denied'), has('unfinished')];
  if (atWorkers > 0) parts.push(`${atWorkers} executed by workers`);
  parts.push(`${has('executed') + has('reused')} executed${atWorkers > 0 ? ' here' : ''}`);
  if (failed > 0) parts.push(`${failed} failed`);
  if (denied > 0) parts.push(`${denied} denied`);
  if (notExecuted > 0) parts.push(`${notExecuted} not executed`);
  if (unfinished > 0) parts.push(`${unfinished} not ended`);
  return parts.join(', ');
}

const ENDINGS: { readonly [O in Exclude<ReportedCall['outcome'], 'reused'>]: string } = {
  executed: 'executed',
  failed: 'executed, and failed',
  denied: 'denied',
  'not-executed': 'not executed',
  unfinished: 'executed, and not ended',
};

function lineOf(call: ReportedCall, run: string, style: Style): string {
  const { op, fn, preview, attempt, phase, site, hit, miss, outcome } = call;
  const called = `@${fn}(${preview === undefined ? '' : clip(oneLine(preview), PREVIEW_UNITS_MAX)})${attempt === undefined ? '' : ` ${wordsOfAttempt(attempt)}`}${phase === undefined ? '' : ` [${phase}]`}`;
  const ended = outcome === 'reused' ? 'executed' : ENDINGS[outcome];
  const verdict = hit
    ? `${hit.worker === undefined ? style.green('reused') : `${style.yellow('executed')} by the worker ${atHost(hit.worker, hit.workerHost)},`} ${reusedFrom(hit, run)}`
    : `${style.yellow(ended)}: ${miss ? because(miss, run, call) : ''}`;
  return `${style.dim(op)} ${oneLine(called)} ${oneLine(verdict)}${placeOfCall(op, site, style)}`;
}

function reusedFrom({ from, edited, changes }: Hit, run: string): string {
  const whose = from.workflow === undefined ? '' : ` of ${from.workflow}`;
  const where = from.run === run ? `from event ${from.seq}` : `from event ${from.seq} of ${from.run}${whose}`;
  return edited ? `${where}, from before ${describeEdit(changes)}` : where;
}

function because(miss: Miss, run: string, { op, resembles, attempt }: ReportedCall): string {
  const records = isOfJavaScript(op);
  const inRun = (at: { readonly run: string }): string => (at.run === run ? 'in this run' : `in run ${at.run}`);
  switch (miss.why) {
    case 'new':
      return resembles === undefined ? 'no recorded run made this call' : changed(resembles, attempt, records);
    case 'invalidated':
      return `--resume ${miss.selector} invalidated its result ${inRun(miss)}`;
    case 'refused':
      return `--resume ${miss.selector} refused the forked result ${inRun(miss)}`;
    case 'rejected':
      return `its result was rejected on ${time(Date.parse(miss.at))}${miss.reason === undefined ? '' : `: ${miss.reason}`}`;
    case 'reset':
      return miss.by === 'fresh'
        ? `--fresh invalidated its result ${inRun(miss)}`
        : `mlld checkpoint clean invalidated its result ${inRun(miss)}`;
    case 'failed':
      return `it ${miss.denied ? 'was denied' : 'failed'} ${inRun(miss)}: ${miss.message}`;
    case 'upstream':
      return upstream(miss, run);
    case 'unusable':
      return `its result ${inRun(miss)} can't be reused: ${miss.message}`;
    case 'interrupted':
      return `the run ended while it was in flight, ${inRun(miss)}`;
    case 'expired':
      return `its result is ${duration(miss.ageMs)} old, and the ttl is ${duration(miss.ttlMs)}`;
    case 'incomplete':
      return `checkpoint "${miss.checkpoint}" was not complete`;
    case 'manual':
      return `there is a result ${inRun(miss)}, and the mode is manual`;
    case 'off':
      return `there is a result ${inRun(miss)}, and --${records ? 'resume' : 'checkpoint'} was not given`;
    case 'edited':
      return `--changed ${miss.changed}, and ${describeEdit(miss.changes)}`;
    case 'simulated':
      return `its result ${inRun(miss)} is simulated`;
    case 'outputs':
      return `${miss.files.join(', ')} ${miss.files.length === 1 ? 'is' : 'are'} not what it had written ${inRun(miss)}`;
    case 'file gone':
      return `file gone: ${miss.files.join(', ')} ${miss.files.length === 1 ? 'is' : 'are'} missing, and reusing the result ${inRun(miss)} would not restore ${miss.files.length === 1 ? 'it' : 'them'}`;
    case 'schema':
      return `its result ${inRun(miss)} does not fit the schema of the function`;
    case 'reply':
      return `its result ${inRun(miss)} does not go with the option reply of the function`;
    case 'unjudged':
      return `its result had come back ${inRun(miss)}, and was judged without executing it again`;
    case 'inside':
      return miss.run === run
        ? 'an equal call in this run has a result, which calls inside a stage or an agent do not share'
        : `there is a result in run ${miss.run}, and the stage or agent around the call was executed anew`;
    case 'later':
      return `its result in run ${miss.run} was recorded after this run had begun`;
    case 'damaged':
      return `its result ${inRun(miss)} can't be read`;
    case 'redacted':
      return `its result was taken out of run ${miss.run} (${miss.reason})`;
    case 'collected':
      return `its result was removed with run ${miss.run}`;
    case 'not-forked':
      return `its result belongs to ${miss.workflow}, from which this run does not fork`;
  }
}

const UPSTREAM_SHOWN = 3;

function upstream({ upstream: calls, run: at }: Extract<Miss, { why: 'upstream' }>, run: string): string {
  const shown = calls.slice(0, UPSTREAM_SHOWN).join(', ');
  const more = calls.length - UPSTREAM_SHOWN;
  const needed = `an argument needs what failed${calls.length === 0 ? '' : ` in ${shown}${more > 0 ? ` and ${more} more` : ''}`}`;
  return at === run ? needed : `it was not executed in run ${at}: ${needed}`;
}

/** @param isSample equal calls of a workflow script or program are samples, and each has a result of its own */
function changed({ preview, differences, changes = [] }: Resembles, attempt: number | undefined, isSample: boolean): string {
  if (differences === undefined)
    return `the arguments changed${preview === undefined ? '' : `; before: ${clip(preview, PREVIEW_UNITS_MAX)}`}`;
  if (differences.length === 0 && isSample) return `it is sample ${attempt ?? 1}, and the results of equal calls belong to other samples`;
  if (differences.length === 0) {
    const what = attempt === undefined ? 'what it forwards' : 'the hint of its retry, or what it forwards,';
    return `${what} changed${changes.length === 0 ? '' : `: ${describeEdit(changes)}`}`;
  }
  const shown = differences.slice(0, DIFFERENCES_SHOWN).map(describeDifference);
  const more = differences.length - shown.length;
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** `argument 1 was "…at noon", is "…at midnight"` */
export function describeDifference({ where, was, is }: NonNullable<Resembles['differences']>[number]): string {
  if (was === undefined) return `${where} is new: ${is}`;
  return is === undefined ? `${where} is gone: ${was}` : `${where} was ${quoted(was)}, is ${quoted(is)}`;
}

/** Escapes the quotes inside, so that a reader sees where the excerpt ends. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', String.raw`\"`)}"`;
}
