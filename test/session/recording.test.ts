import { expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { ignoredFlagsWarning, recordPath, refusedRecording } from '../../src/session/ports/recording.js';
import type { CacheRequest, RunOptions } from '../../src/session/script/run-options.js';

/** Only the flags matter here. */
const withFlags = (cache: CacheRequest): RunOptions => ({ cache }) as RunOptions;
const script = (text: string) => parseScript(text, { mode: 'strict' });

const plain = 'show "hello"\n';
const never = 'resume: never\nshow "hello"\n';

it.each<[string, CacheRequest, string, ReturnType<typeof refusedRecording>]>([
  ['no flag', {}, plain, 'not-requested'],
  ['--checkpoint', { checkpoint: true }, plain, undefined],
  ['--resume', { resume: '' }, never, undefined],
  ['a run by name', { record: true }, plain, undefined],
  ['a run by name of a script that says never', { record: true }, never, 'declined'],
  ['--no-checkpoint beside --checkpoint', { noCheckpoint: true, checkpoint: true }, plain, 'declined'],
  ['resume: auto in the first line', {}, `resume: auto\n${plain}`, undefined],
  ['a checkpoint that says auto', {}, `checkpoint "read" with { resume: auto }\n${plain}`, undefined],
])('decides whether a run records: %s', (_, cache, text, refused) => {
  expect(refusedRecording(withFlags(cache), script(text))).toBe(refused);
});

it('names each flag that had no effect, and the one that has', () => {
  expect(ignoredFlagsWarning(withFlags({}))).toBeUndefined();
  expect(ignoredFlagsWarning(withFlags({ noCheckpoint: true, checkpoint: true }))).toBeUndefined();
  expect(ignoredFlagsWarning(withFlags({ checkpoint: true, forks: ['other'] }))).toBe(
    'warning: --checkpoint and --fork had no effect: the script says resume: never; --resume overrides that',
  );
});

it('records a text only under a name', () => {
  const text = { kind: 'text', text: plain, directory: '/p', label: '-e' } as const;
  expect(recordPath({ ...text, recordAs: '/p/nightly.mld' })).toBe('/p/nightly.mld');
  expect(() => recordPath(text)).toThrow(expect.objectContaining({ code: 'SCRIPT_UNNAMED' }));
});
