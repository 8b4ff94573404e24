/** Renders `mlld journal audit` as text: an entry a line. */
import { teamLines } from '../team-calls.js';
import { atHost } from '../../../src/api/commands/words.js';
import type { AuditConclusion, AuditedCall, AuditEntry, Evidence, FileOrigin } from '../../../src/api/reports/audit.js';
import { counted } from './garbage-collection.js';
import { wrap, wrapAll } from '../wrap.js';
import { messageBehind } from '../causes.js';
import { clip, oneLine } from '../one-line.js';
import { placeOfCall } from '../place-of-call.js';
import type { Style } from '../style.js';
import { costOrDash, duration, money, moneyOrDash } from '../units.js';

const PREVIEW_UNITS_MAX = 60;
const TEXT_UNITS_MAX = 120;
const HASH_DIGITS_SHOWN = 12;
const DEFECTS_SHOWN = 10;
const BEFORE_SHOWN = 100;
const HOOKS_SHOWN = 20;

export function renderEntry(entry: AuditEntry, style: Style): string {
  return `${wrap(entryLine(entry, style), style).join('\n')}\n`;
}

function entryLine(entry: AuditEntry, style: Style): string {
  const op = entry.op === undefined ? '' : `  ${style.dim(entry.op)}`;
  const place = entry.entry === 'call' ? placeOfCall(entry.op, entry.site, style) : '';
  return `${String(entry.seq).padStart(6)} ${style.dim(entry.ts.slice(11, 23))} ${entry.entry.padEnd(7)} ${sentenceOf(entry, style)}${op}${place}`;
}

function sentenceOf(entry: AuditEntry, style: Style): string {
  switch (entry.entry) {
    case 'call': {
      const {
        fn,
        preview,
        phase,
        outcome,
        try: tried = 1,
        class: cause,
        retryInMs,
        from,
        received,
        message,
        durationMs,
        savedUsd,
        worker,
        workerHost,
        workerUsd,
        outputs = [],
      } = entry;
      const colour = COLOURS[outcome] ?? 'red';
      const facts = [
        ...(tried > 1 ? [`attempt ${tried}`] : []),
        ...(cause === undefined ? [] : [cause]),
        ...(worker === undefined ? [] : [`executed by the worker ${oneLine(atHost(worker, workerHost))}`]),
        ...(workerUsd === undefined ? [] : [`for ${money(workerUsd)} there`]),
        ...(from === undefined
          ? []
          : [`from event ${from.seq} of ${from.run}${from.workflow === undefined ? '' : ` of ${from.workflow}`}`]),
        ...(received === undefined ? [] : [`guards judge the result that event ${received.seq} of ${received.run} has`]),
        ...(message === undefined ? [] : [clip(oneLine(cause === undefined ? message : messageBehind(cause, message)), TEXT_UNITS_MAX)]),
        ...(durationMs === undefined ? [] : [duration(durationMs)]),
        ...(entry.model === undefined ? [] : [priceOf(entry)]),
        ...(savedUsd === undefined ? [] : [`saved ${money(savedUsd)}`]),
        ...(retryInMs === undefined ? [] : [`another attempt after ${duration(retryInMs)}`]),
        ...(outputs.length === 0 ? [] : [`wrote ${outputs.map(({ path, hash }) => `${oneLine(path)}${shortHash(hash)}`).join(', ')}`]),
      ];
      return `@${fn}(${preview === undefined ? '' : clip(oneLine(preview), PREVIEW_UNITS_MAX)})${phase === undefined ? '' : ` [${oneLine(phase)}]`} ${style[colour](outcome)}${facts.length === 0 ? '' : `: ${facts.join(', ')}`}`;
    }
    case 'superseded':
      return `@${entry.fn} ${style.yellow('superseded')}: the result in event ${entry.of} was paid for in vain${entry.costUsd === null ? '' : ` (${money(entry.costUsd)})`}; event ${entry.by.seq} of ${entry.by.run} was recorded first and is used`;
    case 'command': {
      const { command, exitCode, error, durationMs } = entry;
      const status = exitCode === undefined || exitCode === 0 ? '' : style.red(` ended with status ${exitCode}`);
      return `${clip(oneLine(command), TEXT_UNITS_MAX)}${status}${because(error, style)}${durationMs === undefined ? '' : ` (${duration(durationMs)})`}`;
    }
    case 'file':
      return `${entry.did} ${oneLine(entry.path)}${shortHash(entry.hash)}${because(entry.error, style)}`;
    case 'guard': {
      const { guard, timing, filter, decision, reason, transformed } = entry;
      const colour = decision === 'deny' ? style.red : decision === 'retry' ? style.yellow : style.green;
      return `${guard} ${timing} ${filter}: ${colour(decision)}${transformed ? ' with another value' : ''}${reason === undefined ? '' : `: ${clip(oneLine(reason), TEXT_UNITS_MAX)}`}`;
    }
    case 'hook':
      return `${entry.hook} ${entry.timing} ${entry.filter}${because(entry.error, style)}`;
  }
}

const COLOURS: { readonly [O in AuditedCall['outcome']]?: 'green' | 'dim' | 'yellow' } = {
  executed: 'green',
  reused: 'dim',
  waited: 'yellow',
};

/** The model, the tokens and the cost of one attempt, with the source of the cost; a dash for what is not known. */
function priceOf({ model, inputTokens, outputTokens, costUsd = null, costSource }: AuditedCall): string {
  const source = costUsd === null || costSource == null ? '' : ` (${SOURCES[costSource]})`;
  return `model ${oneLine(model ?? '-')}, ${inputTokens ?? '-'} tokens in, ${outputTokens ?? '-'} out, cost ${moneyOrDash(costUsd)}${source}`;
}

const SOURCES: { readonly [S in NonNullable<AuditedCall['costSource']>]: string } = {
  told: 'reported',
  table: 'by the price table',
  unknown: 'unknown',
};

function tokens(input: number | null = null, output: number | null = null): string {
  return input === null && output === null ? 'no call reported its tokens' : `${input ?? '?'} tokens in, ${output ?? '?'} out`;
}

export function renderConclusion({ totals, team, integrity }: AuditConclusion, style: Style): string {
  const { executed, reused, failed, unfinished, inputTokens, outputTokens, callsMs, attempts, retries, savedUsd } = totals;
  const { commands, filesRead, filesWritten, denials, hookErrors, hooks } = totals;
  const dearest = hooks.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, HOOKS_SHOWN);
  const moreHooks = hooks.length - dearest.length;
  const lines = [
    `${counted(executed, 'call')} executed, ${reused} reused, ${failed} failed, ${unfinished} unfinished; ${duration(callsMs)} in ${counted(attempts, 'attempt')} (${retries} of them retries), ${tokens(inputTokens, outputTokens)}, cost ${costOrDash(totals)}${savedUsd === null ? '' : `, saved ${money(savedUsd)}`}`,
    ...teamLines(team),
    `${counted(commands, 'command')}, ${counted(filesRead, 'file')} read, ${filesWritten} written; ${denials} denied by guards, ${counted(hookErrors, 'error')} in hooks`,
    ...dearest.map(({ hook, timing, filter, firings, durationMs, errors }) => {
      const failed = errors === 0 ? '' : `, ${style.red(`${errors} failed`)}`;
      return `  ${hook} ${timing} ${filter} fired ${counted(firings, 'time')}, ${duration(durationMs)}${failed}`;
    }),
    ...(moreHooks === 0 ? [] : [`  and ${counted(moreHooks, 'more hook')}`]),
    `journal: ${integrity.events} events, chain ${integrity.ok ? style.green('sound') : style.red('not sound')}`,
    ...integrity.defects
      .slice(0, DEFECTS_SHOWN)
      .map(({ kind, line, message }) => `  ${kind}${line === undefined ? '' : ` in line ${line}`}: ${oneLine(message)}`),
    ...integrity.violations.slice(0, DEFECTS_SHOWN).map(({ seq, message }) => `  event ${seq}: ${oneLine(message)}`),
  ];
  return `${wrapAll(lines, style).join('\n')}\n`;
}

const EVIDENCE: { readonly [E in Evidence]: string } = {
  wrote: 'wrote it',
  quoted: 'its result is in the file',
  before: 'came before',
};

const NOW: { readonly [C in FileOrigin['content']]: string } = {
  'as written': 'the file is what it wrote',
  'another by now': 'the file is another by now',
  gone: 'the file is gone',
  'appended to': 'the file is appended to',
  unknown: 'what it wrote is not in the journal, so that the file may be another by now',
};

export function renderOrigin(path: string, origin: FileOrigin, style: Style): string {
  return wrapAll(originLines(path, origin, style), style)
    .map((line) => `${line}\n`)
    .join('');
}

function originLines(path: string, { run, touched, written, content, origins }: FileOrigin, style: Style): readonly string[] {
  if (written === undefined) return [`Run ${run} did not write ${oneLine(path)}.`, ...touched.map((entry) => entryLine(entry, style))];
  const head = `${style.bold(oneLine(path))} was last written by event ${written.seq}${written.op === undefined ? '' : ` in ${written.op}`} of run ${run}${shortHash(written.hash)}; ${NOW[content]}.`;
  if (origins.length === 0) return [head, 'No call led to it.'];
  const certain = origins.filter(({ evidence }) => evidence !== 'before');
  const shown = certain.length > 0 ? certain : origins.slice(-BEFORE_SHOWN);
  const title =
    certain.length > 0 ? 'Calls that led to it:' : 'Calls that came before it; the journal does not show which of them led to it:';
  const lines = shown.map(({ call, evidence }) => `${entryLine(call, style)}  ${EVIDENCE[evidence]}`);
  const more = origins.length - shown.length;
  return [head, title, ...lines, ...(more === 0 ? [] : [`and ${more} more came before it`])];
}

function because(error: string | undefined, style: Style): string {
  return error === undefined ? '' : `: ${style.red(clip(oneLine(error), TEXT_UNITS_MAX))}`;
}

function shortHash(hash: string | undefined): string {
  return hash === undefined ? '' : ` ${hash.slice(0, 'sha256:'.length + HASH_DIGITS_SHOWN)}`;
}
