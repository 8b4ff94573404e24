/** Targets of `--resume` that can't be resolved: what was meant, and what there is instead. */
import { shellWord } from '../../journal/shell-words.js';
import type { ReachedCheckpoint } from '../memo/checkpoints.js';
import { ReplayError } from './errors.js';
import type { FunctionHistory } from '../memo/history.js';
import { textSimilarity } from '../reports/text-similarity.js';
import type { FunctionSelector, MalformedSelector, PathSelector } from './selector.js';

/** Says whether a target has runs to be resolved in. `ignored`: there are runs, and `--fresh` lets none of them count. */
export type RecordedRuns = 'some' | 'none' | 'ignored';

/** `functions` and `reached`: what a readable target could have named. */
export function malformedTarget(
  { text, why }: MalformedSelector,
  functions: Iterable<string>,
  reached: readonly ReachedCheckpoint[],
): ReplayError {
  const candidates = [...namesOf(functions), ...reached.map(({ name }) => quoted(name))];
  const inQuotes = text.startsWith('@') ? `; a name that starts with @ goes in quotes: --resume ${shellWord(`"${text}"`)}` : '';
  const message = `can't read the target ${text} of --resume: ${why}`;
  return new ReplayError('RESUME_TARGET', message + listed('it could name', candidates), {
    hint:
      `a target is @fn, @fn:N, @fn("prefix"), @fn(= "whole text"), failed, the path of a call or the name of a checkpoint${inQuotes}; ` +
      '--resume alone continues where the last run ended',
    candidates,
  });
}

/** So much of the longer name must be common to both. */
const ALIKE_MIN = 0.5;

export function unknownFunction({ text, name }: FunctionSelector, names: Iterable<string>): ReplayError {
  const known = [...names];
  const candidates = namesOf(known);
  const message = `unknown function in --resume ${text}: @${name} is neither recorded nor declared`;
  const [near] = known
    .filter((each) => textSimilarity(each, name) >= ALIKE_MIN)
    .sort((left, right) => textSimilarity(right, name) - textSimilarity(left, name));
  const quotes = `a checkpoint whose name starts with @ goes in quotes: --resume ${shellWord(`"${text}"`)}`;
  const hint = near === undefined ? quotes : `did you mean @${near}? ${quotes}`;
  return new ReplayError('RESUME_FUNCTION', message + listed('known functions', candidates), { candidates, hint });
}

export function ambiguousFunction({ text, name }: FunctionSelector, history: FunctionHistory): ReplayError {
  const candidates = siteLines(history);
  const message = `ambiguous target ${text}: different functions are called @${name}`;
  return new ReplayError('RESUME_AMBIGUOUS', message + listed('its call sites', candidates), {
    hint: `pick a call site: --resume '@${name}:0'`,
    candidates,
  });
}

export function unknownSite({ text, name, site }: FunctionSelector, history: FunctionHistory): ReplayError {
  const candidates = siteLines(history);
  const count = history.sites.length;
  const numbers = count === 1 ? '1 call site, number 0' : `${count} call sites, numbers 0 to ${count - 1}`;
  const message = `no call site ${site} for ${text}: the latest run that called @${name} has ${numbers}`;
  return new ReplayError('RESUME_SITE', message + listed('its call sites', candidates), { candidates });
}

/** `sites`: where the prefix matches. */
export function ambiguousPrefix({ text, name }: FunctionSelector, sites: ReadonlySet<string>, history: FunctionHistory): ReplayError {
  const candidates = siteLines(history, sites);
  const first = history.sites.findIndex(({ site }) => sites.has(site));
  const where = sites.size > 1 ? 'several call sites' : 'several loops or calls at one call site';
  return new ReplayError(
    'RESUME_AMBIGUOUS',
    `ambiguous target ${text}: the prefix matches in ${where}${listed('matching call sites', candidates)}`,
    {
      hint:
        sites.size > 1
          ? `pick a call site: --resume ${shellWord(text.replace(`@${name}`, `@${name}:${first}`))}`
          : 'use a longer prefix that matches in one place only',
      candidates,
    },
  );
}

/** Enough to recognise the item one meant, not the whole list. */
const EXAMPLES_MAX = 10;

/** `texts`: the arguments and items that were compared. */
export function noMatch({ text, prefix = '' }: FunctionSelector, texts: Iterable<string>): ReplayError {
  const shared = (example: string): number => {
    let length = 0;
    while (length < prefix.length && example[length] === prefix[length]) length++;
    return length;
  };
  // Those that begin most like it first.
  const compared = [...new Set(texts)].toSorted((left, right) => shared(right) - shared(left));
  // Long prompts begin alike: one line is shown for all that look the same.
  const candidates = [...new Set(compared.map(oneLine))].slice(0, EXAMPLES_MAX).map(quoted);
  const inside = compared.filter((example) => example.includes(prefix)).length;
  return new ReplayError('RESUME_PREFIX', `nothing matches ${text}${listed('recorded arguments and items', candidates)}`, {
    ...(inside > 0 && {
      hint: `${inside === 1 ? 'one contains' : `${inside} contain`} it further in; a prefix is what an argument begins with`,
    }),
    candidates,
  });
}

/** The texts that a message about one text lists. */
const NEAREST_MAX = 3;

/** `texts`: the arguments and items that were compared. */
export function noExactMatch({ text, exact = '' }: FunctionSelector, texts: Iterable<string | undefined>): ReplayError {
  const known = new Set([...texts].filter((each) => each !== undefined));
  const nearest = [...known].map((each) => ({ each, alike: textSimilarity(each, exact) })).sort((left, right) => right.alike - left.alike);
  const candidates = nearest.slice(0, NEAREST_MAX).map(({ each }) => quoted(oneLine(each)));
  return new ReplayError('RESUME_EXACT', `no recorded argument is exactly that of ${text}${listed('the nearest', candidates)}`, {
    hint: 'without the = the text is a prefix, and selects from the first match on',
    candidates,
  });
}

/** `nearest`: a path that a run has. */
export function unknownPath({ text }: PathSelector, nearest: string | undefined): ReplayError {
  const candidates = nearest === undefined ? [] : [nearest];
  return new ReplayError('RESUME_PATH', `no recorded run has the operation ${text}${listed('the nearest', candidates)}`, {
    hint: `mlld journal explain lists the paths of a run's calls; a checkpoint of this name goes in quotes: --resume ${shellWord(`"${text}"`)}`,
    candidates,
  });
}

export function pathWithoutCalls({ text }: PathSelector): ReplayError {
  return new ReplayError('RESUME_PATH', `no recorded run made a call at ${text} or inside it`, {
    hint: "mlld journal explain lists the paths of a run's calls",
  });
}

export function ambiguousFailed(): ReplayError {
  return new ReplayError('RESUME_AMBIGUOUS', 'ambiguous target failed: the prior run reached a checkpoint of this name', {
    hint: `--resume '"failed"' continues from the checkpoint; --resume alone executes all calls without a result, the failed ones included`,
    candidates: ['"failed"'],
  });
}

export function noRunToResume(name: string, runs: RecordedRuns): ReplayError {
  return new ReplayError('RESUME_CHECKPOINT', `unknown checkpoint ${quoted(name)}: ${nothingCounts(runs)}`, {
    hint:
      runs === 'ignored'
        ? 'leave --fresh out to resume from a checkpoint, or leave --resume out to start anew'
        : 'a checkpoint can be resumed from after a recorded run has reached it: run with --checkpoint first',
  });
}

/** Says why there is nothing that a target could be resolved in. */
export function nothingCounts(runs: RecordedRuns): string {
  return runs === 'ignored' ? '--fresh forgets all recorded runs' : 'this script has no recorded run';
}

export function unknownCheckpoint(name: string, reached: readonly ReachedCheckpoint[]): ReplayError {
  const candidates = reached.map((checkpoint) => quoted(checkpoint.name));
  const message = `unknown checkpoint ${quoted(name)}: the prior run did not reach it`;
  return new ReplayError('RESUME_CHECKPOINT', message + listed('it reached', candidates), { candidates });
}

export function ambiguousCheckpoint(name: string, matches: readonly ReachedCheckpoint[]): ReplayError {
  const candidates = matches.map((checkpoint) => quoted(checkpoint.name));
  return new ReplayError('RESUME_AMBIGUOUS', [`ambiguous checkpoint match ${quoted(name)} — matches:`, ...candidates].join('\n  '), {
    candidates,
  });
}

function namesOf(functions: Iterable<string>): string[] {
  return [...new Set(functions)].sort().map((fn) => `@${fn}`);
}

/** `@ask:0 at job.mld:3:6, declared at job.mld:1:5` */
function siteLines({ fn, sites }: FunctionHistory, only?: ReadonlySet<string>): string[] {
  return sites.flatMap(({ site, declared }, index) => {
    if (only !== undefined && !only.has(site)) return [];
    return [`@${fn}:${index}${site === '' ? '' : ` at ${site}`}${declared === undefined ? '' : `, declared at ${declared}`}`];
  });
}

const EXAMPLE_UNITS_MAX = 60;

function oneLine(text: string): string {
  const line = text.replaceAll('\n', '\\n');
  return line.length > EXAMPLE_UNITS_MAX ? `${line.slice(0, EXAMPLE_UNITS_MAX - 3)}...` : line;
}

function quoted(text: string): string {
  return `"${text}"`;
}

function listed(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`; ${title}:`, ...lines].join('\n  ');
}
