/** Random histories: two scripts and a library, then edits, things that break and are repaired, and runs of every kind. */
import fc from 'fast-check';
import type { Command, Name } from './model.js';
import type { Argument, Asker, Call, Edit, Functions, Header, Library, Literal, Part, Script, Width } from './script.js';
import type { Target } from './target.js';

export type Turn =
  | { readonly kind: 'edit'; readonly script: Name; readonly edits: readonly Edit[] }
  /** From now on these calls fail, and no others. */
  | { readonly kind: 'break'; readonly questions: readonly string[] }
  | { readonly kind: 'clean'; readonly script: Name }
  /** Killed at about its `killAt`-th event, from 1, of those that the rules are about. */
  | { readonly kind: 'run'; readonly command: Command; readonly killAt: number | undefined };

export interface History {
  readonly job: Script;
  /** Edits of `job.mld` that make `collect.mld`: the two can reuse many results of each other. */
  readonly collect: readonly Edit[];
  readonly library: Library;
  readonly turns: readonly Turn[];
}

const WORDS = ['ebb', 'flow', 'slack', 'ebb tide', 'flood'] as const;
const CHECKPOINTS = ['data', 'data', 'data set', 'done', ' done ', 'lib'] as const;

/** Mostly the first few, so that scripts make the same calls. */
const anyLiteral: fc.Arbitrary<Literal> = fc.oneof(
  { weight: 24, arbitrary: fc.constantFrom('ebb', 'flow') },
  { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 2, arbitrary: fc.constantFrom<Literal>(5, '5', true, 'true', null, '') },
);
const anyArgument: fc.Arbitrary<Argument> = fc.oneof(
  { weight: 6, arbitrary: anyLiteral.map((value) => ({ kind: 'literal' as const, value })) },
  { weight: 2, arbitrary: fc.constant({ kind: 'earlier' as const }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...WORDS).map((value) => ({ kind: 'answer' as const, of: { kind: 'literal' as const, value } })),
  },
);
const anyAsker: fc.Arbitrary<Asker> = fc.constantFrom(
  'ask',
  'ask',
  'ask',
  'ask',
  'grade',
  'poll',
  'review',
  'outer',
  'round',
  'round',
  'scan',
);
const anyModel = fc.constantFrom('small' as const, 'large' as const);
const anyItems = fc.array(anyLiteral, { maxLength: 4 });
const anyWidth = fc.constantFrom<Width>('sequential', 1, 2, 3);
const anyCall: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('asker' as const), fn: anyAsker, question: anyArgument, model: anyModel }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('survey' as const), items: anyItems }) },
);

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('value' as const), call: anyCall }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('labelled' as const),
      fn: fc.constantFrom('ask', 'poll'),
      question: anyArgument,
      model: anyModel,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('show' as const), call: anyCall }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('run' as const), question: anyArgument }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('piped' as const),
      fn: fc.constantFrom('ask', 'grade'),
      text: fc.constantFrom(...WORDS),
      model: anyModel,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retried' as const), text: fc.constantFrom(...WORDS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('each' as const), items: anyItems, fn: anyAsker }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('gathered' as const),
      items: anyItems,
      fn: fc.constantFrom('ask', 'grade', 'review', 'outer'),
      width: anyWidth,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('checkpoint' as const),
      name: fc.constantFrom(...CHECKPOINTS),
      form: fc.constantFrom('plain', 'plain', 'taken', 'not taken'),
    }),
  },
);

const functionSettings = {
  edition: fc.constantFrom(1, 2, 3),
  askName: fc.constantFrom('ask', 'inquire'),
  surveyName: fc.constantFrom('survey', 'tour'),
  isPollLlm: fc.boolean(),
  reviewer: fc.constantFrom('poll', 'ask'),
  reviewModel: anyModel,
  surveyAsks: fc.constantFrom('ask', 'review', 'outer'),
  surveyWidth: anyWidth,
  surveyPrefix: fc.constantFrom('Please ', ''),
  surveyEdges: fc.boolean(),
} as const;

const BEFORE: Functions = {
  edition: 1,
  askName: 'ask',
  surveyName: 'survey',
  isPollLlm: false,
  reviewer: 'poll',
  reviewModel: 'small',
  surveyAsks: 'ask',
  surveyWidth: 'sequential',
  surveyPrefix: '',
  surveyEdges: false,
};
/** One thing at a time. */
const anyChange: fc.Arbitrary<Partial<Functions>> = fc.oneof(
  ...Object.entries(functionSettings).map(([setting, anyValue]) =>
    (anyValue as fc.Arbitrary<unknown>).map((value) => ({ [setting]: value })),
  ),
);

const anyHeader = fc.oneof(
  { weight: 9, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom<Header>('auto', 'manual', 'never') },
);
const anyScript: fc.Arbitrary<Script> = fc.record({
  header: anyHeader,
  functions: fc.array(anyChange, { maxLength: 2 }).map((changes) => Object.assign({}, BEFORE, ...changes) as Functions),
  parts: fc.array(anyPart, { minLength: 1, maxLength: 5 }),
});

const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('insert' as const), at: fc.nat(9), part: anyPart }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), at: fc.nat(9), to: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), at: fc.nat(9), part: anyPart }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('functions' as const), change: anyChange }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('header' as const), header: anyHeader }) },
);

const FUNCTIONS = ['ask', 'inquire', 'grade', 'poll', 'review', 'outer', 'survey', 'tour', 'round', 'scan', 'probe', 'nobody'] as const;
const PREFIXES = ['e', 'ebb', 'ebb t', 'fl', 'flow', 'slack', 'Please', 'Please e', 'a', 'before', '5', 'zzz'] as const;
/** Whatever function this history is about. */
const FAVOURITE = '*';
const anyTarget: fc.Arbitrary<Target> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'everything' as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('function' as const),
      fn: fc.oneof({ weight: 5, arbitrary: fc.constant(FAVOURITE) }, { weight: 2, arbitrary: fc.constantFrom(...FUNCTIONS) }),
      site: fc.option(fc.nat(2), { nil: undefined, freq: 2 }),
      prefix: fc.option(fc.oneof(fc.constantFrom('e', 'f'), fc.constantFrom(...PREFIXES)), { nil: undefined, freq: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom('data', 'data', 'data set', 'done', 'd', 'da', 'lib', 'lib', 'nope')
      .map((name) => ({ kind: 'checkpoint' as const, name })),
  },
);

const anyName = fc.oneof({ weight: 3, arbitrary: fc.constant('job' as const) }, { weight: 1, arbitrary: fc.constant('collect' as const) });
const PLAIN: Command = { script: 'job', checkpoint: false, fresh: false, resume: undefined, fork: undefined };
const anyCommand: fc.Arbitrary<Command> = fc
  .tuple(
    anyName,
    fc.oneof(
      { weight: 1, arbitrary: fc.constant({}) },
      { weight: 6, arbitrary: fc.constant({ checkpoint: true }) },
      { weight: 1, arbitrary: fc.constant({ fresh: true }) },
      { weight: 8, arbitrary: anyTarget.map((resume) => ({ resume })) },
      { weight: 1, arbitrary: anyTarget.map((resume) => ({ resume, fresh: true })) },
      { weight: 2, arbitrary: fc.constant({ fork: 'the other' as const }) },
      { weight: 1, arbitrary: fc.constant({ fork: 'the other' as const, fresh: true }) },
      { weight: 3, arbitrary: anyTarget.map((resume) => ({ resume, fork: 'the other' as const })) },
      { weight: 1, arbitrary: fc.constantFrom({ fork: 'itself' as const }, { fork: 'nobody' as const }) },
    ),
  )
  .map(([script, flags]) => ({ ...PLAIN, script, ...flags }));

const anyTurn: fc.Arbitrary<Turn> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('edit' as const), script: anyName, edits: fc.array(anyEdit, { minLength: 1, maxLength: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('break' as const),
      questions: fc.oneof(fc.constant([]), fc.subarray(['flow', 'Please flow', 'slack', 'after', '5'], { maxLength: 2 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clean' as const), script: anyName }) },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      command: anyCommand,
      killAt: fc.option(fc.integer({ min: 1, max: 25 }), { nil: undefined, freq: 5 }),
    }),
  },
);

const anyLibrary: fc.Arbitrary<Library> = fc.record({
  asker: fc.constantFrom('probe', 'ask'),
  checkpoint: fc.option(fc.constant('lib'), { nil: undefined, freq: 2 }),
});

/** Keeps the steps of a history to one subject, because they would seldom meet otherwise. */
interface Subject {
  readonly favourite: string;
  /** Most runs of `job` fork from `collect`, which has results. */
  readonly isLending: boolean;
  /** Nothing is forgotten. */
  readonly isLasting: boolean;
}

const anySubject: fc.Arbitrary<Subject> = fc.record({
  favourite: fc.constantFrom('ask', 'survey', 'round', 'review', 'scan', 'outer'),
  isLending: fc.boolean(),
  isLasting: fc.boolean(),
});

export const anyHistory: fc.Arbitrary<History> = fc
  .record({
    job: anyScript,
    collect: fc.array(anyEdit, { maxLength: 4 }),
    library: anyLibrary,
    subject: anySubject,
    turns: fc.array(anyTurn, { minLength: 3, maxLength: 10, size: 'max' }),
  })
  .map(({ job, collect, library, subject, turns }) => ({ job, collect, library, turns: keptTo(subject, turns) }));

function keptTo({ favourite, isLending, isLasting }: Subject, turns: readonly Turn[]): Turn[] {
  const first: Turn[] = isLending ? [recording('collect'), recording('job')] : [recording('job')];
  return [...first, ...turns].flatMap((turn): Turn[] => {
    if (turn.kind === 'clean' && isLasting) return [];
    if (turn.kind !== 'run') return [turn];
    const { script, resume } = turn.command;
    const target = resume?.kind === 'function' && resume.fn === FAVOURITE ? { ...resume, fn: favourite } : resume;
    const fork = turn.command.fork ?? (isLending && script === 'job' ? 'the other' : undefined);
    return [{ ...turn, command: { ...turn.command, resume: target, fork, fresh: turn.command.fresh && !isLasting } }];
  });
}

function recording(script: Name): Turn {
  return { kind: 'run', command: { ...PLAIN, script, checkpoint: true }, killAt: undefined };
}
