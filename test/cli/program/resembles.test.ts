import { describe, expect, it } from 'vitest';
import { resembles } from '../../../cli/options/resembles.js';

describe('a flag', () => {
  it.each([
    ['Fresh', 'fresh'],
    ['NO_checkpoint', 'no-checkpoint'],
    ['nocheckpoint', 'no-checkpoint'],
    ['checkpont', 'checkpoint'],
    ['checkpooint', 'checkpoint'],
    ['checkpoind', 'checkpoint'],
    ['hceckpoint', 'checkpoint'],
    ['checkpoitn', 'checkpoint'],
    ['resum', 'resume'],
    ['esume', 'resume'],
    ['resumes', 'resume'],
    ['time-uot', 'timeout'],
  ])('%s resembles %s', (flag, option) => {
    expect(resembles(flag, option)).toBe(true);
  });

  it.each([
    ['model', 'mode'],
    ['forks', 'fork'],
    ['frsh', 'fresh'],
    ['res', 'resume'],
    ['resumed-at', 'resume'],
    ['presumes', 'resume'],
    ['timeout2', 'timeout'],
    ['pointcheck', 'checkpoint'],
    ['muhrse', 'resume'],
  ])('%s does not resemble %s', (flag, option) => {
    expect(resembles(flag, option)).toBe(false);
  });
});
