import { expect, it } from 'vitest';
import { MlldError } from '../../src/errors.js';
import { HookWarnings } from '../../src/hooks/failure-warnings.js';

const at = (place: number, message: string): Error =>
  new MlldError('CODE_FAILED', message, { location: { file: 'job.mld', at: place, text: 'hook after @ask = [ show @x ]' } });

it('warns of each cause at once, and says at the end how often it came back', () => {
  const warnings = new HookWarnings();
  const added = [
    warnings.add('@audit', at(3, 'no tide\n  at ebb')),
    warnings.add('@audit', at(3, 'no tide at flow')), // the same place, whatever the item was
    warnings.add('@audit', at(3, 'no tide')),
    warnings.add('@audit', at(9, 'no moon')),
    warnings.add('@log', at(3, 'no tide')),
    warnings.add('@log', new Error('full')),
    warnings.add('@log', new Error('full')),
    warnings.add('@log', new Error('gone')),
  ];
  expect(added).toEqual([
    'hook @audit: no tide at ebb',
    undefined,
    undefined,
    'hook @audit: no moon',
    'hook @log: no tide',
    'hook @log: full',
    undefined,
    'hook @log: gone',
  ]);
  expect(warnings.repeated()).toEqual(['hook @audit failed 2 more times: no tide at ebb', 'hook @log failed once more: full']);
});
