import { expect, it } from 'vitest';
import { adviseResume } from '../../../cli/commands/resume-advice.js';
import { runRef } from '../../journal/support/facts.js';

/** Nothing listens on this port. */
const AWAY = 'postgres://127.0.0.1:1/none?project=patrol';

it('says how to resume a run also while the store is away that it was recorded in', async () => {
  const lines: string[] = [];
  const project = { root: '/p', config: { scriptDir: 'llm/run', prefixes: [], suppressWarnings: [] } };
  const ref = runRef(1);
  await adviseResume({ environment: { MLLD_STORE: AWAY }, stderr: (text) => lines.push(text), todayMs: () => 0 }, project, ref, {
    command: { name: 'patrol', argv: ['patrol'] },
    isInSummary: false,
  });
  expect(lines.join('')).toContain('mlld run patrol --resume');
  expect(lines.join('')).toContain(`mlld journal postmortem ${ref.run}`);
});
