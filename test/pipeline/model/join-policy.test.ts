/** Branches of a parallel node decide its status, and are cancelled once it is decided. graph-pipelines.md 7.5. */
import { afterEach, describe, expect, it } from 'vitest';
import { joinStatus, joinVerdict, type JoinRule } from '../../../src/pipeline/model/join-policy.js';
import { outcomeOf, type StageStatus } from '../../../src/pipeline/model/outcome.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const WORDS: { readonly [letter: string]: StageStatus | undefined } = {
  s: 'success',
  p: 'partial_success',
  f: 'fail',
  k: 'skipped',
  '.': undefined,
};
const ends = (letters: string): readonly (StageStatus | undefined)[] => [...letters].map((letter) => WORDS[letter]);
const rule = (join: JoinRule['join'], errors: JoinRule['errors'] = 'continue', k = 2): JoinRule => ({ join, errors, k });

describe('when it is decided', () => {
  it.each([
    [rule('wait_all'), 'sf.', 'open'],
    [rule('wait_all'), 'sff', 'satisfied'],
    [rule('wait_all', 'fail_fast'), 's.f.', 'failed'],
    [rule('first_success'), 'f..', 'open'],
    [rule('first_success'), 'fs.', 'satisfied'],
    [rule('first_success'), 'fff', 'failed'],
    [rule('k_of_n'), 's..', 'open'],
    [rule('k_of_n'), 's.s', 'satisfied'],
    [rule('k_of_n'), 'ff.', 'failed'],
    [rule('k_of_n'), 'pf.', 'open'],
    [rule('k_of_n'), 'pff', 'failed'],
    [rule('k_of_n', 'fail_fast'), 'f..', 'failed'],
    [rule('k_of_n', 'ignore'), 'ff.', 'open'],
    [rule('k_of_n', 'ignore'), 'ffs', 'satisfied'],
    [rule('quorum'), 'ss..', 'open'],
    [rule('quorum'), 'sss.', 'satisfied'],
    [rule('quorum'), 'ff..', 'failed'],
    [rule('quorum', 'ignore'), 'ffs.', 'open'],
    [rule('quorum', 'ignore'), 'ffss', 'satisfied'],
    [rule('quorum', 'ignore'), 'ffff', 'failed'],
  ] as const)('%o with %s: %s', (given, letters, verdict) => {
    expect(joinVerdict(given, ends(letters))).toBe(verdict);
  });
});

describe('the status of the node', () => {
  it.each([
    [rule('wait_all'), 'ss', 'success'],
    [rule('wait_all'), 'sf', 'partial_success'],
    [rule('wait_all', 'ignore'), 'sf', 'success'],
    [rule('wait_all', 'ignore'), 'ff', 'partial_success'],
    [rule('wait_all', 'fail_fast'), 'sfk', 'fail'],
    [rule('k_of_n'), 'ssk', 'success'],
    [rule('k_of_n'), 'spf', 'partial_success'],
    [rule('k_of_n'), 'sff', 'fail'],
    [rule('quorum'), 'sskf', 'fail'],
    [rule('quorum'), 'ssskf', 'success'],
    [rule('quorum', 'ignore'), 'sff', 'success'],
    [rule('first_success'), 'fp', 'partial_success'],
  ] as const)('%o with %s: %s', (given, letters, status) => {
    expect(joinStatus(given, ends(letters))).toBe(status);
  });
});

let place: Workshop | undefined;
afterEach(() => place?.remove());

/** Branches a and b end with a given status, c would never end by itself. */
async function run(
  attributes: string,
  how: { readonly [node: string]: StageStatus },
): Promise<{ readonly status: string; readonly results: string; readonly error: string }> {
  place = workshop(
    pipeline(
      `p [shape=component, ${attributes}]; a [type=ends]; b [type=ends]; c [type=waits]; m [shape=tripleoctagon]
       start -> p; p -> a -> m; p -> b -> m; p -> c -> m; m -> exit`,
    ),
  );
  const { checkpoint, report } = await place.run({
    handlers: new Map([
      ['ends', { handle: async ({ node }) => outcomeOf(how[node.id] ?? 'success', { failure_reason: `${node.id} is wet` }) }],
      [
        'waits',
        {
          handle: ({ signal }) =>
            new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('called off')), { once: true })),
        },
      ],
    ]),
  });
  const results = checkpoint.context['parallel.results'] as readonly { readonly id: string; readonly outcome: string }[];
  return {
    status: checkpoint.node_history.find(({ node_id: id }) => id === 'p')?.outcome ?? '',
    results: results.map(({ id, outcome }) => `${id}:${outcome}`).join(' '),
    error: report.error instanceof Error ? report.error.message : '',
  };
}

it('ends the branches that still run when enough have succeeded', async () => {
  expect(await run('join_policy=k_of_n, k=2', {})).toMatchObject({ status: 'success', results: 'a:success b:success c:skipped' });
  place?.remove();
  expect(await run('join_policy=quorum', {})).toMatchObject({ status: 'success', results: 'a:success b:success c:skipped' });
});

it('ends them when not enough can succeed any more, and says how many were needed', async () => {
  const { status, results, error } = await run('join_policy=k_of_n, k=2', { a: 'fail', b: 'fail' });
  expect([status, results]).toEqual(['fail', 'a:fail b:fail c:skipped']);
  expect(error).toBe('no branch succeeded');
});

it('fails fast, with the reason of the branch', async () => {
  const { status, results, error } = await run('error_policy=fail_fast, max_parallel=1', { b: 'fail' });
  expect([status, results]).toEqual(['fail', 'a:success b:fail c:skipped']);
  expect(error).toBe('the branch b failed: b is wet');
});
