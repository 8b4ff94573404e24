/** The errors of the backends of a program, in the words of calls.md 3 and 4. */
import { describe, expect, it } from 'vitest';
import { MlldError } from '../../../src/errors.js';
import { codergen } from '../../../src/pipeline/handlers/codergen.js';
import { BranchCancelled, StageError } from '../../../src/pipeline/model/outcome.js';
import { bareStage } from '../../support/bare-stage.js';

function failing(error: Error, more: Partial<Parameters<typeof bareStage>[1]> = {}) {
  let executed = 0;
  const execute = async (): Promise<never> => {
    executed += 1;
    throw error;
  };
  const services = { backend: 'mine', backends: new Map([['mine', () => ({ name: 'mine', execute })]]) };
  const { stage } = bareStage('a [prompt="ask"]; start -> a -> exit', { services, ...more });
  return { ended: codergen.handle(stage), executed: () => executed };
}

describe('an error of a backend', () => {
  it.each([
    ['with a status', Object.assign(new Error('slow down\nplease'), { status: 429 }), '@g.a', 'failed: rate limit: slow down'],
    ['with a code', Object.assign(new Error('gone'), { code: 'ECONNRESET' }), '@g.a', 'failed: network: gone'],
    ['of an inner cause', new Error('no', { cause: { status: 529 } }), '@g.a', 'failed: overloaded: no'],
    ['whose words alone say something', new Error('rate limit'), 'crash: rate limit'],
    ['of a stage', new StageError('permanent', 'no ink'), 'crash: no ink'],
  ])('%s has its class', async (_, error, ...texts) => {
    const { ended } = failing(error);
    for (const text of texts) await expect(ended).rejects.toThrow(text);
    await expect(ended).rejects.toSatisfy((thrown: unknown) => causesOf(thrown).includes(error));
  });

  it('that ends the run is left as it is', async () => {
    const interrupted = new MlldError('INTERRUPTED', 'ended by SIGINT');
    await expect(failing(interrupted).ended).rejects.toBe(interrupted);
  });
});

it('executes nothing for a branch that was cancelled while the call waited', async () => {
  const controller = new AbortController();
  controller.abort();
  const { ended, executed } = failing(new Error('x'), { signal: controller.signal });
  await expect(ended).rejects.toBeInstanceOf(BranchCancelled);
  expect(executed()).toBe(0);
});

function causesOf(thrown: unknown): readonly unknown[] {
  return thrown instanceof Error ? [thrown, ...causesOf(thrown.cause)] : [];
}
