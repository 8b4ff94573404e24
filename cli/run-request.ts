/**
 * What the words behind `mlld FILE`, `mlld -e` and `mlld run` mean. Options are few and fixed; every other flag is the script's own and
 * becomes a member of `@payload`. World sections 16.2, 17.3 and 17.4; checkpoint section 3.
 */
import type { CacheRequest } from '../src/run-options.js';
import { MlldError } from '../src/errors.js';

/** `file` covers `-e`: both reserve every option. `run` reserves few, so that scripts have more names for themselves. */
export type CommandForm = 'file' | 'run';

export interface RunRequest {
  /** FILE or NAME. */
  readonly script?: string;
  /** CODE of `-e`. */
  readonly code?: string;
  readonly help: boolean;
  /** Say what would happen instead of doing it. */
  readonly plan: boolean;
  /** `--json`, which only `--plan` has. */
  readonly json: boolean;
  readonly payload: { readonly [name: string]: string | true };
  readonly cache: CacheRequest;
  readonly inject: readonly string[];
  readonly state: readonly string[];
  readonly timeoutMs?: number;
  readonly environment?: string;
  readonly mode?: 'strict' | 'markdown';
  readonly errorBehavior: 'continue' | 'halt';
  readonly debug: boolean;
  readonly metrics: boolean;
  readonly structured: boolean;
  readonly streaming: boolean;
  readonly warnings: boolean;
}

/** How an option takes its value: not at all, always, or when the next word can be one. */
type Arity = 'none' | 'value' | 'optional';
interface Option {
  readonly name: string;
  readonly arity: Arity;
}

const COMMON: { readonly [flag: string]: Option } = {
  help: { name: 'help', arity: 'none' },
  h: { name: 'help', arity: 'none' },
  timeout: { name: 'timeout', arity: 'value' },
  debug: { name: 'debug', arity: 'none' },
  d: { name: 'debug', arity: 'none' },
  'mlld-env': { name: 'mlld-env', arity: 'value' },
  inject: { name: 'inject', arity: 'value' },
  payload: { name: 'inject', arity: 'value' },
  checkpoint: { name: 'checkpoint', arity: 'none' },
  'no-checkpoint': { name: 'no-checkpoint', arity: 'none' },
  new: { name: 'fresh', arity: 'none' },
  fresh: { name: 'fresh', arity: 'none' },
  resume: { name: 'resume', arity: 'optional' },
  fork: { name: 'fork', arity: 'value' },
  changed: { name: 'changed', arity: 'value' },
  plan: { name: 'plan', arity: 'none' },
  'keep-files': { name: 'keep-files', arity: 'none' },
};

const OPTIONS: { readonly [form in CommandForm]: { readonly [flag: string]: Option } } = {
  run: { ...COMMON, 'no-warn': { name: 'no-warn', arity: 'none' } },
  file: {
    ...COMMON,
    e: { name: 'eval', arity: 'value' },
    eval: { name: 'eval', arity: 'value' },
    metrics: { name: 'metrics', arity: 'none' },
    structured: { name: 'structured', arity: 'none' },
    'no-stream': { name: 'no-stream', arity: 'none' },
    'error-behavior': { name: 'error-behavior', arity: 'value' },
    mode: { name: 'mode', arity: 'value' },
    md: { name: 'md', arity: 'none' },
    state: { name: 'state', arity: 'value' },
    o: { name: 'output', arity: 'value' },
    output: { name: 'output', arity: 'value' },
    format: { name: 'format', arity: 'value' },
    watch: { name: 'watch', arity: 'none' },
    json: { name: 'json', arity: 'none' },
  },
};

/** Reserved, so that no script comes to depend on them; each says what to do instead. */
const NOT_SUPPORTED: { readonly [name: string]: string } = {
  output: 'redirect the output: mlld FILE > OUT',
  format: 'the document is written as it is',
  watch: 'start the command again when a file has changed',
  json: '--structured prints one JSON object, --plan --json the plan',
};

/** Not repeated when a run is resumed: they say where this one started from. */
const CACHE_OPTIONS = new Set(['checkpoint', 'fresh', 'resume']);

const UNITS_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** The longest time a timer can wait. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** What was found, option by option, in the order of the command line. */
interface Found {
  readonly words: string[];
  readonly options: Map<string, string[]>;
  readonly payload: Map<string, string | true>;
  /** Where words of options about the cache stand. */
  readonly cacheWords: Set<number>;
}

/** Throws USAGE for what can't be meant. */
export function parseRunRequest(argv: readonly string[], form: CommandForm): RunRequest {
  const found = scan(argv, form);
  const has = (name: string): boolean => found.options.has(name);
  const last = (name: string): string | undefined => found.options.get(name)?.at(-1);
  const [script, extra] = found.words;
  const code = last('eval');
  const help = has('help');
  if (!help) {
    for (const [name, instead] of Object.entries(NOT_SUPPORTED))
      if (has(name) && !(name === 'json' && has('plan'))) throw usage(`--${name} is not supported yet`, instead);
    if (extra !== undefined) throw usage(`Unexpected argument: ${extra}`, 'data for the script is given as flags: --name value');
    if (script !== undefined && code !== undefined) throw usage(`A file (${script}) and -e can't be given together`);
  }
  const timeoutMs = durationMs(last('timeout'));
  const mode = has('md') ? 'markdown' : oneOf('--mode', last('mode'), ['strict', 'markdown'] as const);
  const environment = last('mlld-env');
  return {
    ...(script === undefined ? {} : { script }),
    ...(code === undefined ? {} : { code }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(mode === undefined ? {} : { mode }),
    ...(environment === undefined ? {} : { environment }),
    help,
    plan: has('plan'),
    json: has('plan') && (has('json') || found.payload.has('json')),
    payload: payloadOf(found, form),
    cache: cacheOf(found),
    inject: found.options.get('inject') ?? [],
    state: found.options.get('state') ?? [],
    errorBehavior: oneOf('--error-behavior', last('error-behavior'), ['continue', 'halt'] as const) ?? 'continue',
    debug: has('debug'),
    metrics: has('metrics'),
    structured: has('structured'),
    streaming: !has('no-stream'),
    warnings: !has('no-warn'),
  };
}

/** The flag on whose account a run would be recorded, as it would be written; undefined without one. */
export function recordFlag({ cache, plan }: RunRequest): string | undefined {
  if (plan) return '--plan';
  const given = RECORD_FLAGS.find(([member]) => cache[member] !== undefined);
  return given?.[1];
}

const RECORD_FLAGS = [
  ['checkpoint', '--checkpoint'],
  ['fresh', '--fresh'],
  ['resume', '--resume'],
  ['forks', '--fork'],
  ['changed', '--changed'],
  ['keepFiles', '--keep-files'],
] as const satisfies readonly (readonly [keyof CacheRequest, string])[];

/** Options of mlld that can be written out, without dashes. */
export function optionNames(form: CommandForm): readonly string[] {
  return Object.keys(OPTIONS[form]).filter((name) => name.length > 1 && !Object.hasOwn(NOT_SUPPORTED, name));
}

/** The command line that goes on with what this one has recorded: same script, same data. */
export function resumeArguments(argv: readonly string[], form: CommandForm): readonly string[] {
  const { cacheWords } = scan(argv, form);
  return [...argv.filter((_, index) => !cacheWords.has(index)), '--resume'];
}

function scan(argv: readonly string[], form: CommandForm): Found {
  const found: Found = { words: [], options: new Map(), payload: new Map(), cacheWords: new Set() };
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string; // index < argv.length
    const flag = /^--?(?<name>[^-=][^=]*)(?:=(?<inline>[\s\S]*))?$/.exec(word)?.groups;
    if (flag?.['name'] === undefined) {
      if (word.startsWith('-') && word !== '-') throw usage(`Unreadable flag: ${word}`);
      found.words.push(word);
      continue;
    }
    const { name, inline } = flag;
    const option = Object.hasOwn(OPTIONS[form], name) ? OPTIONS[form][name] : undefined;
    const next = argv[index + 1];
    // Code may begin with a dash: a list item of markdown does.
    const canFollow = next !== undefined && (!next.startsWith('-') || option?.name === 'eval');
    const takesNext = inline === undefined && canFollow && option?.arity !== 'none';
    const value = inline ?? (takesNext ? next : undefined);
    if (option !== undefined && CACHE_OPTIONS.has(option.name)) {
      found.cacheWords.add(index);
      if (takesNext) found.cacheWords.add(index + 1);
    }
    if (takesNext) index++;
    if (option === undefined) {
      found.payload.set(name, value ?? true);
      continue;
    }
    if (option.arity === 'value' && value === undefined) throw usage(`${word} needs a value`, USAGE_OF[option.name]);
    if (option.arity === 'none' && inline !== undefined) throw usage(`--${name} takes no value`);
    // A value that is there and empty is not one that was left out: it is read as what it is, and refused.
    const given = value === '' && option.arity === 'optional' ? '""' : (value ?? '');
    found.options.set(option.name, [...(found.options.get(option.name) ?? []), given]);
  }
  return found;
}

const USAGE_OF: { readonly [option: string]: string } = {
  fork: '--fork SCRIPT, the name or path of a script with recorded runs',
  timeout: '--timeout 30s, or 900ms, 5m, 1h, or a number of milliseconds',
  inject: '--inject @name={"key": "value"}, or @name=@file',
  changed: '--changed ask',
};

function payloadOf({ payload, options }: Found, form: CommandForm): RunRequest['payload'] {
  const members = new Map(payload);
  if (options.has('plan')) members.delete('json');
  // The older spelling of one flag that scripts have always had.
  const dryRun = members.get('dry-run');
  if (dryRun !== undefined) members.set('dryRun', dryRun);
  if (form === 'run' && options.has('fresh')) members.set('new', true);
  return Object.fromEntries(members);
}

/** Checkpoint sections 3 and 16: which flags exclude each other. */
function cacheOf({ options }: Found): CacheRequest {
  const noCheckpoint = options.has('no-checkpoint');
  const other = ['checkpoint', 'fresh', 'resume', 'fork', 'changed', 'plan'].find((name) => options.has(name));
  if (noCheckpoint && other !== undefined) {
    throw usage(`--no-checkpoint and --${other} contradict each other`, '--no-checkpoint switches recording off; give one of the two');
  }
  const [resume, again] = options.get('resume') ?? [];
  if (again !== undefined) throw usage('--resume may be given once', 'resume at the earlier of the two places');
  const forks = options.get('fork');
  const changed = oneOf('--changed', options.get('changed')?.at(-1), ['ask', 'serve'] as const);
  return {
    ...(options.has('checkpoint') ? { checkpoint: true } : {}),
    ...(options.has('fresh') ? { fresh: true } : {}),
    ...(resume === undefined ? {} : { resume }),
    ...(forks === undefined ? {} : { forks }),
    ...(changed === undefined ? {} : { changed }),
    ...(options.has('keep-files') ? { keepFiles: true } : {}),
    ...(noCheckpoint ? { noCheckpoint: true } : {}),
  };
}

/** `30s`, `900ms`, `5m`, `1h`, or a number of milliseconds. Throws USAGE. */
export function durationMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms = Math.round(Number(number) * (UNITS_MS[unit] ?? Number.NaN));
  if (!(ms > 0 && ms <= TIMEOUT_MAX_MS)) throw usage(`Invalid timeout: ${text}`, USAGE_OF['timeout']);
  return ms;
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
