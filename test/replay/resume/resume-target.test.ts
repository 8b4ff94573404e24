import { describe, expect, it } from 'vitest';
import type { Fact, Json } from '../../../journal/event.js';
import { checkpoints } from '../../../replay/memo/checkpoints.js';
import { functionHistory } from '../../../replay/memo/history.js';
import { resolveSelector, type Declarations, type Invalidation } from '../../../replay/resume/invalidation.js';
import { memo, usable, type Memo } from '../../../replay/memo/memo.js';
import { fold, type Entry } from '../../../replay/fold/projection.js';
import { parseSelector } from '../../../replay/resume/selector.js';
import { call, inside, loop, callKeyOf, run, runRef } from '../../support/written-runs.js';

const SCRIPT: Declarations = { declares: (fn) => fn === 'ask' || fn === 'survey', knownFunctions: ['ask', 'survey'] };

/** Resolves a target against whole runs, oldest first, the way a loaded workflow does: one run is read again. */
function resolve(target: string, runs: readonly (readonly Entry[])[], forks: readonly Memo[] = []): Invalidation {
  const state = fold(memo, runs.flat());
  const selector = parseSelector(target);
  const only = (run: string | undefined): Entry[] | undefined => runs.flat().filter(({ place }) => place.ref.run === run);
  const last = runs.at(-1);
  const called = selector.kind === 'function' ? state.called.get(selector.name) : undefined;
  return resolveSelector(
    selector,
    {
      memo: state,
      forks,
      runs: runs.length > 0 ? 'some' : 'none',
      history: called && fold(functionHistory(selector.kind === 'function' ? selector.name : ''), only(called.run) ?? []),
      prior: last && fold(checkpoints, last),
    },
    SCRIPT,
  );
}

/** The first arguments of what a target drops. */
function dropped(target: string, runs: readonly (readonly Entry[])[]): Json[] {
  const { keys } = resolve(target, runs);
  const previews = new Map([...usable(fold(memo, runs.flat()))].map(([key, { preview }]) => [key, preview]));
  return keys.map((key) => previews.get(key) ?? null);
}

const asks = (...texts: string[]): Fact[] =>
  texts.flatMap((text, number) => call(`main/show#${number}/ask#0`, text, { site: `job.mld:${number + 2}:6` }));
const askEach = (path: string, items: readonly string[], site: string): Fact[] =>
  loop(path, items, (item, at) => call(`${at}/ask#0`, item, { site }));
const survey = (path: string, site: string, items: readonly string[]): Fact[] =>
  inside(path, { kind: 'exe', name: 'survey', site }, askEach(`${path}/for#0`, items, 'job.mld:3:40'));
const reached = (name: string): Fact[] => [{ type: 'checkpoint.reached', name }];

describe('--resume @fn', () => {
  const mixed = run(runRef(1), call('main/ask#0', 'ebb'), call('main/judge#0', 'plain', { fn: 'judge' }));

  it('invalidates the calls of the function, and only those', () => {
    expect(dropped('@judge', [mixed])).toEqual(['plain']);
  });

  it('covers all recorded runs, not only the latest', () => {
    expect(dropped('@ask', [mixed, run(runRef(2), call('main/ask#0', 'flow')), run(runRef(3))])).toEqual(['ebb', 'flow']);
  });

  it('invalidates the calls made inside an ordinary function', () => {
    const facts = [...call('main/ask#0', 'before'), ...survey('main/survey#0', 's', ['ebb', 'flow']), ...call('main/ask#1', 'after')];
    expect(dropped('@survey', [run(runRef(1), facts)])).toEqual(['ebb', 'flow']);
  });

  it('knows a function by the name of its declaration, whatever it was called by', () => {
    const facts = inside('main/survey#0', { kind: 'exe', name: 'imported', site: 's' }, call('main/survey#0/ask#0', 'ebb'));
    expect(dropped('@survey', [run(runRef(1), facts)])).toEqual(['ebb']);
    expect(dropped('@survey:0', [run(runRef(1), facts)])).toEqual(['ebb']);
  });

  it('invalidates only what is usable: the second time nothing', () => {
    const first = run(runRef(1), call('main/ask#0', 'ebb'));
    const second = run(runRef(2), [{ type: 'memo.invalidated', selector: '@ask', keys: [callKeyOf('ebb')] }]);
    expect(dropped('@ask', [first, second])).toEqual([]);
  });

  it('is ambiguous when two functions have the name, and lists the sites', () => {
    const two = run(
      runRef(1),
      call('main/ask#0', 'ebb', { site: 'job.mld:3:6', declared: 'job.mld:2:5' }),
      call('main/check#0/ask#0', 'flow', { site: 'lib.mld:2:24', declared: 'lib.mld:1:5' }),
    );
    for (const target of ['@ask', '@ask("fl")']) {
      expect(() => resolve(target, [two])).toThrow(
        expect.objectContaining({
          code: 'RESUME_AMBIGUOUS',
          message: expect.stringMatching(/ambiguous[^]*@ask:0 at job\.mld:3:6[^]*@ask:1 at lib\.mld:2:24/),
        }),
      );
    }
    expect(dropped('@ask:1', [two])).toEqual(['flow']);
  });

  it('is not ambiguous because a declaration moved between two runs', () => {
    const runs = [1, 2].map((line) => run(runRef(line), call('main/ask#0', `run ${line}`, { declared: `job.mld:${line}:5` })));
    expect(dropped('@ask', runs)).toEqual(['run 1', 'run 2']);
  });

  it('is an error for a function that neither record nor script knows', () => {
    expect(() => resolve('@aks', [mixed])).toThrow(
      expect.objectContaining({
        code: 'RESUME_FUNCTION',
        hint: expect.stringContaining(`--resume '"@`),
        message: expect.stringContaining('@aks'),
        candidates: ['@ask', '@judge', '@survey'],
      }),
    );
  });

  it('says so when there is nothing to invalidate yet', () => {
    expect(resolve('@survey', [mixed])).toMatchObject({ keys: [], notice: expect.stringContaining('@survey') });
    expect(resolve('@aks', [])).toMatchObject({ keys: [], notice: expect.stringContaining('no recorded run') });
  });
});

describe('--resume @fn:N', () => {
  const history = run(
    runRef(1),
    asks('first'),
    askEach('main/for#0', ['loop a', 'loop b'], 'job.mld:3:30'),
    call('main/ask#0', 'last', { site: 'job.mld:4:6' }),
  );

  it('counts call sites in the order of first execution', () => {
    expect(dropped('@ask:0', [history])).toEqual(['first']);
    expect(dropped('@ask:1', [history])).toEqual(['loop a', 'loop b']);
    expect(dropped('@ask:2', [history])).toEqual(['last']);
  });

  it('takes sites from the latest run that called the function', () => {
    const later = run(runRef(2), call('main/ask#0', 'moved', { site: 'job.mld:9:6' }));
    expect(dropped('@ask:0', [history, later, run(runRef(3))])).toEqual(['moved']);
    expect(() => resolve('@ask:1', [history, later])).toThrow(expect.objectContaining({ code: 'RESUME_SITE' }));
  });

  it('finds reused calls like executed ones', () => {
    const served = run(runRef(2), askEach('main/for#0', ['loop a'], 'job.mld:3:30'), call('main/ask#0', 'first', { outcome: 'reused' }));
    expect(dropped('@ask:1', [history, served])).toEqual(['first']);
  });

  it('picks one call site of a containing function', () => {
    const two = run(runRef(1), survey('main/survey#0', 'job.mld:6:6', ['a1', 'a2']), survey('main/survey#1', 'job.mld:7:6', ['b1', 'b2']));
    expect(dropped('@survey:1', [two])).toEqual(['b1', 'b2']);
    expect(dropped('@survey:0("a2")', [two])).toEqual(['a2']);
  });

  it('counts a site whose calls made no call inside', () => {
    const two = run(runRef(1), survey('main/survey#0', 'job.mld:6:6', []), survey('main/survey#1', 'job.mld:7:6', ['b1']));
    expect(dropped('@survey:0', [two])).toEqual([]);
    expect(dropped('@survey:1', [two])).toEqual(['b1']);
  });

  it('is an error that names the target for a site that is not there', () => {
    expect(() => resolve('@ask:3', [history])).toThrow(
      expect.objectContaining({ code: 'RESUME_SITE', message: expect.stringContaining('@ask:3') }),
    );
  });
});

describe('--resume @fn("prefix")', () => {
  it('invalidates from the first matching call on, over call sites in the order of execution', () => {
    expect(dropped('@ask("be")', [run(runRef(1), asks('alpha', 'beta', 'gamma'))])).toEqual(['beta', 'gamma']);
  });

  it('finds the text of reused calls', () => {
    const first = run(runRef(1), asks('alpha', 'beta', 'gamma'));
    const served = run(
      runRef(2),
      ['alpha', 'beta', 'gamma'].flatMap((text, n) => call(`main/show#${n}/ask#0`, text, { site: `s${n}`, outcome: 'reused' })),
    );
    expect(dropped('@ask("be")', [first, served])).toEqual(['beta', 'gamma']);
  });

  it('finds a call whose result was invalidated since, and invalidates what follows it', () => {
    const first = run(runRef(1), asks('alpha', 'beta', 'gamma'));
    const died = run(runRef(2), [{ type: 'memo.invalidated', selector: '@ask:1', keys: [callKeyOf('beta')] }]);
    expect(dropped('@ask("be")', [first, died])).toEqual(['gamma']);
  });

  it('follows the order of items in a parallel loop, whatever finished first', () => {
    const at = (index: number, item: string): Fact[] =>
      inside(`main/for#0[${index}]`, { kind: 'for:iteration', item }, call(`main/for#0[${index}]/ask#0`, item));
    const parallel = inside('main/for#0', { kind: 'for', total: 11 }, [...at(10, 'src/a'), ...at(9, 'docs/b'), ...at(0, 'docs/a')]);
    expect(new Set(dropped('@ask("docs/b")', [run(runRef(1), parallel)]))).toEqual(new Set(['docs/b', 'src/a']));
  });

  it('takes a loop of a function that calls itself as one', () => {
    /** `@survey` calls itself from within, and only the inner call has the loop. */
    const nested = [
      run(
        runRef(1),
        inside('main/survey#0', { kind: 'exe', name: 'survey', site: 'outer' }, [
          ...call('main/survey#0/ask#0', 'depth'),
          ...survey('main/survey#0/survey#0', 'inner', ['ebb', 'flow', 'slack']),
        ]),
      ),
    ];
    expect(dropped('@survey("fl")', nested)).toEqual(['flow', 'slack']);
    expect(dropped('@survey:0("fl")', nested)).toEqual(['flow', 'slack']);
    expect(dropped('@survey:1("fl")', nested)).toEqual(['flow', 'slack']);
  });

  it('keeps a call that was made before the match, also where it is made again after it', () => {
    expect(dropped('@ask("be")', [run(runRef(1), asks('alpha', 'beta', 'alpha', 'gamma'))])).toEqual(['beta', 'gamma']);
  });

  it('is ambiguous when it matches at several call sites; an index decides', () => {
    const two = run(
      runRef(1),
      askEach('main/for#0', ['beech', 'birch'], 'job.mld:2:40'),
      askEach('main/for#1', ['bark', 'cedar'], 'job.mld:3:40'),
    );
    expect(() => resolve('@ask("b")', [two])).toThrow(
      expect.objectContaining({
        code: 'RESUME_AMBIGUOUS',
        message: expect.stringMatching(/ambiguous target @ask\("b"\)[^]*@ask:0[^]*@ask:1/),
      }),
    );
    expect(dropped('@ask:1("b")', [two])).toEqual(['bark', 'cedar']);
  });

  it('is ambiguous: the hint is one word of a shell, whatever the text has in it', () => {
    const sites = ['2:40', '3:40'].map((place, index) => askEach(`main/for#${index}`, ["it's"], `job.mld:${place}`));
    expect(() => resolve('@ask("it\'s")', [run(runRef(1), ...sites)])).toThrow(
      expect.objectContaining({ hint: String.raw`pick a call site: --resume '@ask:0("it'\''s")'` }),
    );
  });

  it('reads other values as compact JSON', () => {
    const history = run(runRef(1), call('main/ask#0', { port: 'Oban', berth: 4 }, { site: 'a' }), call('main/ask#1', 12, { site: 'b' }));
    expect(dropped('@ask("{\\"berth")'.replaceAll('\\', ''), [history])).toEqual(['{"berth":4,"port":"Oban"}', '12']);
    expect(dropped('@ask("1")', [history])).toEqual(['12']);
  });

  it('compares with the items of the loop in an ordinary function, and leaves what surrounds the loop', () => {
    const facts = inside('main/survey#0', { kind: 'exe', name: 'survey', site: 's' }, [
      ...call('main/survey#0/ask#0', 'docs intro'),
      ...loop('main/survey#0/for#0', ['docs/a', 'tests/b', 'tests/c'], (item, at) => call(`${at}/ask#0`, `Please review ${item}`)),
      ...call('main/survey#0/ask#1', 'tests outro'),
    ]);
    expect(dropped('@survey("tests")', [run(runRef(1), facts)])).toEqual(['Please review tests/b', 'Please review tests/c']);
  });

  it('skips loops that make no call', () => {
    const facts = inside('main/survey#0', { kind: 'exe', name: 'survey', site: 's' }, [
      ...loop('main/survey#0/for#0', ['ebb', 'flow'], () => []),
      ...askEach('main/survey#0/for#1', ['ebb', 'flow'], 'a'),
    ]);
    expect(dropped('@survey("flow")', [run(runRef(1), facts)])).toEqual(['flow']);
  });

  it('is ambiguous when it matches in two loops of one call', () => {
    const facts = inside('main/survey#0', { kind: 'exe', name: 'survey', site: 's' }, [
      ...askEach('main/survey#0/for#0', ['ebb'], 'a'),
      ...askEach('main/survey#0/for#1', ['ebbing'], 'b'),
    ]);
    expect(() => resolve('@survey("ebb")', [run(runRef(1), facts)])).toThrow(expect.objectContaining({ code: 'RESUME_AMBIGUOUS' }));
  });

  it('is an error that shows what there is when nothing matches', () => {
    const error = { code: 'RESUME_PREFIX', message: expect.stringContaining('zzz'), candidates: ['"alder"', '"beech"'] };
    expect(() => resolve('@ask("zzz")', [run(runRef(1), asks('alder', 'beech'))])).toThrow(expect.objectContaining(error));
  });

  it('shows similar candidates first, equal previews once, and says how many contain the text further in', () => {
    const prompt = (file: string): string => `You review one file of a project, and say what is worth a change. File: ${file}`;
    const near = { candidates: ['"src/world/clock.ts"', '"src/session/script/run-script.ts"', '"cli/main.ts"'] };
    const files = run(runRef(1), asks('cli/main.ts', 'src/session/script/run-script.ts', 'src/world/clock.ts'));
    expect(() => resolve('@ask("src/world/zz")', [files])).toThrow(expect.objectContaining(near));
    const alike = { candidates: [expect.stringMatching(/^"You review one file/)], hint: expect.stringMatching(/^2 contain it further in/) };
    const prompts = run(runRef(1), asks(prompt('a.ts'), prompt('b.ts')));
    expect(() => resolve('@ask("File: ")', [prompts])).toThrow(expect.objectContaining(alike));
  });
});

describe('--resume "name"', () => {
  const phases = run(
    runRef(1),
    call('main/show#0/ask#0', 'one'),
    reached('collected'),
    call('main/show#1/ask#0', 'two'),
    reached('reviewed'),
    call('main/show#2/ask#0', 'three'),
  );

  it('invalidates everything that was first used after the checkpoint', () => {
    expect(dropped('reviewed', [phases])).toEqual(['three']);
    expect(dropped('coll', [phases])).toEqual(['two', 'three']);
  });

  it('keeps what was used before, executed or reused, also where it is used again after', () => {
    const again = run(
      runRef(2),
      call('main/show#0/ask#0', 'one', { outcome: 'reused' }),
      reached('middle'),
      call('main/show#1/ask#0', 'one', { outcome: 'reused' }),
      call('main/show#2/ask#0', 'four'),
    );
    expect(dropped('middle', [phases, again])).toEqual(['two', 'three', 'four']);
  });

  it('prefers an exact name to a prefix', () => {
    const history = run(
      runRef(1),
      reached('phase two'),
      call('main/show#0/ask#0', 'one'),
      reached('phase'),
      call('main/show#1/ask#0', 'two'),
    );
    expect(dropped('phase', [history])).toEqual(['two']);
  });

  it('is ambiguous with several prefix matches, each on a line of its own', () => {
    const history = run(runRef(1), reached('data-collection-complete'), reached('data-processing-complete'), reached('done'));
    expect(() => resolve('data', [history])).toThrow(
      expect.objectContaining({
        code: 'RESUME_AMBIGUOUS',
        message: 'ambiguous checkpoint match "data" — matches:\n  "data-collection-complete"\n  "data-processing-complete"',
      }),
    );
  });

  it('knows only what the prior run reached', () => {
    expect(() => resolve('reviewed', [phases, run(runRef(2), reached('collected'))])).toThrow(
      expect.objectContaining({
        code: 'RESUME_CHECKPOINT',
        message: expect.stringMatching(/"reviewed"[^]*"collected"/),
        candidates: ['"collected"'],
      }),
    );
    expect(() => resolve('reviewed', [])).toThrow(expect.objectContaining({ code: 'RESUME_CHECKPOINT' }));
  });
});

describe('forked results', () => {
  const source = fold(
    memo,
    run(runRef(1), call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'), call('main/judge#0', 'x', { fn: 'judge' })),
  );

  it('are invalidated by a function target, also before the script’s first run', () => {
    expect(resolve('@ask', [], [source])).toEqual({ keys: [], forkedKeys: [callKeyOf('ebb'), callKeyOf('flow')] });
  });

  it('are invalidated once: what can’t be reused any more is not counted again', () => {
    const keys = [callKeyOf('ebb')];
    const own = run(runRef(2), [{ type: 'memo.invalidated', selector: '@ask', keys, borrowed: true }]);
    expect(resolve('@ask', [own], [source])).toMatchObject({ keys: [], forkedKeys: [callKeyOf('flow')] });
  });

  it('are invalidated where only the fork source made the call inside the function; the script’s own result of it is kept', () => {
    const lender = fold(memo, run(runRef(1), survey('main/survey#0', 's', ['ebb'])));
    const elsewhere = run(runRef(2), call('main/ask#0', 'ebb'));
    expect(resolve('@survey', [elsewhere], [lender])).toEqual({ keys: [], forkedKeys: [callKeyOf('ebb')] });
    const refused: Fact = { type: 'memo.invalidated', selector: '@survey', keys: [callKeyOf('ebb')], borrowed: true };
    expect(resolve('@survey', [run(runRef(3), [refused], call('main/ask#0', 'ebb'))], [lender])).toMatchObject({
      keys: [],
      forkedKeys: [],
    });
    const toured = run(runRef(2), call('main/ask#0', 'ebb'), survey('main/survey#0', 's', ['slack']));
    expect(resolve('@survey', [toured], [lender])).toEqual({ keys: [callKeyOf('slack')], forkedKeys: [callKeyOf('ebb')] });
  });

  it('are invalidated by a checkpoint unless the prior run used them before it', () => {
    const own = run(runRef(2), call('main/ask#0', 'ebb', { outcome: 'reused' }), reached('middle'), call('main/ask#1', 'own'));
    const invalidation = resolve('middle', [own], [source]);
    expect(invalidation).toEqual({ keys: [callKeyOf('own')], forkedKeys: [callKeyOf('flow'), callKeyOf('x', 'judge')] });
  });

  it('are found by a prefix where they were reused', () => {
    const own = run(
      runRef(2),
      call('main/ask#0', 'ebb', { outcome: 'reused', site: 'a' }),
      call('main/ask#1', 'flow', { outcome: 'reused', site: 'b' }),
    );
    expect(resolve('@ask("fl")', [own], [source])).toEqual({ keys: [], forkedKeys: [callKeyOf('flow')] });
  });
});
