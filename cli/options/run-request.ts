/**
 * Parses the words behind `mlld FILE`, `mlld -e` and `mlld run`. Options are few and fixed; every other flag, and every flag behind
 * `--`, belongs to the script and becomes a member of `@payload`. world.md 16.2 and 17.3; checkpoint-resume.md 3.
 */
import type { CacheRequest, RunOptions } from '../../src/api/commands/script.js';
import { MlldError } from '../../src/errors.js';
import type { CommandForm, FlagRow } from '../command-table/rows.js';
import { RUN_FLAGS, runFlags, spellingsOf } from '../command-table/run-flags.js';
import { callSettings } from './call-settings.js';
import { durationMs } from './duration.js';

export type ProgressForm = 'plain' | 'tty' | 'json' | 'none';

export interface Flags {
  readonly [name: string]: string | true;
}

export interface RunRequest {
  /** FILE or NAME. */
  readonly script?: string;
  /** CODE of `-e`. */
  readonly code?: string;
  readonly help: boolean;
  /** Print what would happen instead of doing it. */
  readonly plan: boolean;
  /** `--json`, which only `--plan` has. */
  readonly json: boolean;
  readonly payload: Flags;
  /** Names of payload members before `--`, where an option may have been meant. */
  readonly looseFlags: readonly string[];
  /** The options as they were written: a script that reads one of these names from `@payload` gets it as well. */
  readonly optionFlags: Flags;
  readonly cache: CacheRequest;
  readonly inject: readonly string[];
  readonly state: readonly string[];
  readonly timeoutMs?: number;
  readonly journalWaitMs?: number;
  readonly workers?: RunOptions['workers'];
  readonly unrecorded: boolean;
  readonly calls?: RunOptions['calls'];
  readonly environment?: string;
  readonly mode?: 'strict' | 'markdown';
  readonly errorBehavior: 'continue' | 'halt';
  /** Without it, the terminal or its absence decides. */
  readonly progress?: ProgressForm;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly metrics: boolean;
  readonly structured: boolean;
  readonly streaming: boolean;
  readonly warnings: boolean;
  /** A warning of the check before the run refuses it. */
  readonly strict: boolean;
}

/** Left out of the command that resumes a run: they say where this one started, and after how many calls it had to stop. */
const NOT_RESUMED = new Set(['checkpoint', 'fresh', 'resume', 'max-calls']);

/** Options and flags in the order of the command line. */
interface Found {
  readonly words: string[];
  readonly options: Map<string, string[]>;
  readonly optionFlags: Map<string, string | true>;
  readonly payload: Map<string, string | true>;
  readonly looseFlags: Set<string>;
  /** Indexes of the words that belong to options about recorded results. */
  readonly cacheWords: Set<number>;
  /** Index of `--`, or else the number of words. */
  optionsEnd: number;
}

/** Throws USAGE for words that contradict each other or have no meaning. */
export function parseRunRequest(argv: readonly string[], form: CommandForm): RunRequest {
  const found = scan(argv, runFlags(form));
  return requestOf(found, form, found.options.get('budget')?.at(-1));
}

/** Reads the words that a run began with: a workflow script may have had a limit of tokens, which is no budget of other runs. */
export function parseRecordedWords(argv: readonly string[]): RunRequest {
  const found = scan(argv, runFlags('run'));
  const budget = found.options.get('budget')?.at(-1);
  return requestOf(found, 'run', tokensIn(budget) === undefined ? budget : undefined);
}

const FACTORS: { readonly [unit: string]: number } = { '': 1, k: 1_000, m: 1_000_000 };

/** A number without a unit, also with `k` or `M`, is a workflow script's own limit of output tokens. */
export function tokensIn(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d+)?)([kM]?)$/i.exec(text ?? '');
  return found ? Math.round(Number(found[1]) * (FACTORS[(found[2] ?? '').toLowerCase()] ?? 1)) : undefined;
}

/** Reads the flags of a workflow script. `budget` replaces what `--budget` says about calls. Throws as `parseRunRequest` does. */
export function parseWorkflowWords(
  argv: readonly string[],
  flags: readonly FlagRow[],
  budgetOf: (text: string | undefined) => string | undefined,
): { readonly request: RunRequest; readonly last: (name: string) => string | undefined } {
  const found = scan(argv, flags);
  const last = (name: string): string | undefined => found.options.get(name)?.at(-1);
  return { request: requestOf(found, 'file', budgetOf(last('budget'))), last };
}

function requestOf(found: Found, form: CommandForm, budget: string | undefined): RunRequest {
  const has = (name: string): boolean => found.options.has(name);
  const last = (name: string): string | undefined => found.options.get(name)?.at(-1);
  const duration = (name: 'timeout' | 'journal-wait'): number | undefined => {
    const text = last(name);
    return text === undefined ? undefined : durationMs(text, name);
  };
  const [script, extra] = found.words;
  const code = last('eval');
  const help = has('help');
  if (!help) {
    for (const { flags, instead } of RUN_FLAGS) {
      const [name] = flags;
      if (instead !== undefined && has(name) && !(name === 'json' && has('plan'))) throw usage(`--${name} is not supported yet`, instead);
    }
    if (extra !== undefined) throw usage(`Unexpected argument: ${extra}`, 'data for the script is given as flags: --name value');
    if (script !== undefined && code !== undefined) throw usage(`A file (${script}) and -e can't be given together`);
  }
  const timeoutMs = duration('timeout');
  const journalWaitMs = duration('journal-wait');
  const mode = has('md') ? 'markdown' : oneOf('--mode', last('mode'), ['strict', 'markdown'] as const);
  const environment = last('mlld-env');
  const progress = oneOf('--progress', last('progress'), ['plain', 'tty', 'json', 'none'] as const);
  const calls = callSettings({
    retries: last('retries'),
    callTimeout: last('call-timeout'),
    concurrency: last('concurrency'),
    budget,
    maxCalls: last('max-calls'),
    budgetStrict: has('budget-strict'),
    allowFailures: has('allow-failures'),
    waitQuota: last('wait-quota'),
  });
  return {
    ...(script === undefined ? {} : { script }),
    ...(code === undefined ? {} : { code }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(journalWaitMs === undefined ? {} : { journalWaitMs }),
    ...workersOf(last('workers'), last('lanes')),
    unrecorded: has('unrecorded'),
    ...(calls === undefined ? {} : { calls }),
    ...(mode === undefined ? {} : { mode }),
    ...(environment === undefined ? {} : { environment }),
    ...(progress === undefined ? {} : { progress }),
    help,
    plan: has('plan'),
    json: has('plan') && (has('json') || found.payload.has('json')),
    payload: payloadOf(found, form),
    looseFlags: [...found.looseFlags],
    optionFlags: Object.fromEntries(found.optionFlags),
    cache: cacheOf(found),
    inject: found.options.get('inject') ?? [],
    state: found.options.get('state') ?? [],
    errorBehavior: oneOf('--error-behavior', last('error-behavior'), ['continue', 'halt'] as const) ?? 'continue',
    verbose: has('verbose'),
    debug: has('debug'),
    metrics: has('metrics'),
    structured: has('structured'),
    streaming: !has('no-stream'),
    warnings: !has('no-warn'),
    strict: has('strict'),
  };
}

/** Returns the flag that makes a run recorded, with its dashes; undefined without one. */
export function recordFlag({ cache, plan }: RunRequest): string | undefined {
  if (plan) return '--plan';
  const found = RECORD_FLAGS.find(([member]) => cache[member] !== undefined);
  return found?.[1];
}

const RECORD_FLAGS = [
  ['checkpoint', '--checkpoint'],
  ['fresh', '--fresh'],
  ['resume', '--resume'],
  ['forks', '--fork'],
  ['changed', '--changed'],
  ['keepFiles', '--keep-files'],
  ['keepOrphans', '--keep-orphans'],
] as const satisfies readonly (readonly [keyof CacheRequest, string])[];

/** Returns the command line that resumes what this one has recorded: same script, same data. `more` are words behind `--resume`. */
export function resumeArguments(argv: readonly string[], form: CommandForm, more: readonly string[] = []): readonly string[] {
  const { cacheWords, optionsEnd } = scan(argv, runFlags(form));
  const kept = argv.slice(0, optionsEnd).filter((_, index) => !cacheWords.has(index));
  return [...kept, '--resume', ...more, ...argv.slice(optionsEnd)];
}

function scan(argv: readonly string[], flags: readonly FlagRow[]): Found {
  const options = new Map(flags.flatMap((row) => spellingsOf(row).map((flag) => [flag, row])));
  const found: Found = {
    words: [],
    options: new Map(),
    optionFlags: new Map(),
    payload: new Map(),
    looseFlags: new Set(),
    cacheWords: new Set(),
    optionsEnd: argv.length,
  };
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string; // index < argv.length
    const isData = index > found.optionsEnd;
    if (word === '--' && !isData) {
      found.optionsEnd = index;
      continue;
    }
    const flag = /^--?(?<name>[^-=][^=]*)(?:=(?<inline>[\s\S]*))?$/.exec(word)?.groups;
    if (flag?.['name'] === undefined) {
      if (word.startsWith('-') && word !== '-') throw usage(`Unreadable flag: ${word}`);
      found.words.push(word);
      continue;
    }
    const { name, inline } = flag;
    const option = isData ? undefined : options.get(name);
    const [known] = option?.flags ?? [];
    const next = argv[index + 1];
    // Code may begin with a dash: a list item of markdown does.
    const canFollow =
      next !== undefined &&
      (known !== 'workers' || next.startsWith('@')) &&
      (!next.startsWith('-') || known === 'eval' || (next === '-' && name === 'args'));
    const takesNext = inline === undefined && canFollow && option?.value !== 'none';
    const value = inline ?? (takesNext ? next : undefined);
    if (known !== undefined && NOT_RESUMED.has(known)) {
      found.cacheWords.add(index);
      if (takesNext) found.cacheWords.add(index + 1);
    }
    if (takesNext) index++;
    if (option === undefined) {
      found.payload.set(name, value ?? true);
      if (!isData) found.looseFlags.add(name);
      continue;
    }
    found.optionFlags.set(name, value ?? true);
    keepOption(found, option, { word, name, inline, value });
  }
  return found;
}

interface Written {
  readonly word: string;
  readonly name: string;
  readonly inline: string | undefined;
  readonly value: string | undefined;
}

function keepOption(
  { options }: Found,
  { flags: [known], value: takes, usage: hint }: FlagRow,
  { word, name, inline, value }: Written,
): void {
  if (takes === 'required' && value === undefined) throw usage(`${word} needs a value`, hint);
  if (takes === 'none' && inline !== undefined) throw usage(`--${name} takes no value`);
  // A value that is there and empty is not one that was left out: it is read as what it is, and refused.
  const given = value === '' && takes === 'optional' ? '""' : (value ?? '');
  options.set(known, [...(options.get(known) ?? []), given]);
}

function payloadOf({ payload, options }: Found, form: CommandForm): RunRequest['payload'] {
  const members = new Map(payload);
  if (options.has('plan')) members.delete('json');
  // A flag that was given in camel case itself has precedence.
  for (const [name, value] of payload) {
    const camel = inCamelCase(name);
    if (members.has(name) && !members.has(camel)) members.set(camel, value);
  }
  if (form === 'run' && options.has('fresh')) members.set('new', true);
  return Object.fromEntries(members);
}

/** Spells `max-items` as `maxItems`, the name that a script can import. */
export function inCamelCase(flag: string): string {
  return flag.replaceAll(/(?<=[^-])-([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());
}

/** Throws USAGE. team-store.md 7. */
function workersOf(names: string | undefined, lanes: string | undefined): Pick<RunRequest, 'workers'> {
  if (names === undefined) {
    if (lanes !== undefined) throw usage('--lanes says how many calls a run executes itself beside its workers', '--workers --lanes 4');
    return {};
  }
  const only = names === '' ? undefined : names.split(',').map((name) => name.trim());
  if (only?.some((name) => !/^@[A-Za-z_]\w*$/.test(name)))
    throw usage(`--workers ${names}: names of functions are expected`, '--workers @ask,@review');
  const slots = lanes === undefined ? undefined : Number(lanes);
  if (slots !== undefined && !(Number.isInteger(slots) && slots > 0))
    throw usage(`--lanes ${lanes}: a whole number is expected`, '--lanes 4');
  return { workers: { ...(only && { only }), ...(slots !== undefined && { slots }) } };
}

/** checkpoint-resume.md 3 and 16: which flags exclude each other. */
function cacheOf({ options }: Found): CacheRequest {
  const noCheckpoint = options.has('no-checkpoint');
  const other = ['checkpoint', 'fresh', 'resume', 'fork', 'changed', 'plan'].find((name) => options.has(name));
  if (noCheckpoint && other !== undefined) {
    throw usage(`--no-checkpoint and --${other} contradict each other`, '--no-checkpoint switches recording off; give one of the two');
  }
  const [resume, again] = options.get('resume') ?? [];
  if (again !== undefined) throw usage('--resume may be given once', 'resume at the earlier of the two places');
  const forks = options.get('fork');
  const changed = oneOf('--changed', options.get('changed')?.at(-1), ['ask', 'ask-guards', 'serve'] as const);
  return {
    ...(options.has('checkpoint') ? { checkpoint: true } : {}),
    ...(options.has('fresh') ? { fresh: true } : {}),
    ...(resume === undefined ? {} : { resume }),
    ...(forks === undefined ? {} : { forks }),
    ...(changed === undefined ? {} : { changed }),
    ...(options.has('keep-files') ? { keepFiles: true } : {}),
    ...(options.has('keep-orphans') ? { keepOrphans: true } : {}),
    ...(noCheckpoint ? { noCheckpoint: true } : {}),
  };
}

function oneOf<T extends string>(flag: string, value: string | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const known = allowed.find((word) => word === value);
  if (known === undefined) throw usage(`${flag} ${value}: it must be ${allowed.join(' or ')}`);
  return known;
}

function usage(message: string, hint?: string): MlldError {
  return new MlldError('USAGE', message, { hint: hint ?? 'mlld --help' });
}
