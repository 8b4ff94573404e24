/** Finds the programs that a killed run may have left running, from its journal. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath } from '../../../journal/ids.js';
import { fold } from '../../../replay/fold/projection.js';
import { packProcesses, processes, processesOf, unpackProcesses } from '../../../replay/fold/processes.js';
import { entries, finished, runRef, started } from '../../support/written-runs.js';

const launch = (op: string, group: number): Fact => ({ type: 'process.started', op: opPath(op), group, started: String(group), boot: 'b' });
const land = (op: string): Fact => ({ type: 'effect.performed', op: opPath(op), kind: 'command.run', subject: 'ls', request: 'r' });
const RUN = runRef(1);
const left = (...facts: readonly Fact[]): readonly number[] =>
  processesOf(fold(processes, entries(RUN, [started(RUN), ...facts])), RUN.run).map(({ group }) => group);

describe('a killed run may have left', () => {
  it('what it started and did not see ending', () => {
    expect(left(launch('main/a#0', 1), launch('main/b#0', 2), land('main/a#0'))).toEqual([2]);
  });

  it('all of several of one operation, until every one of them has ended', () => {
    expect(left(launch('main/a#0', 1), launch('main/a#0', 2), land('main/a#0'))).toEqual([1, 2]);
    expect(left(launch('main/a#0', 1), launch('main/a#0', 2), land('main/a#0'), land('main/a#0'))).toEqual([]);
  });

  it('nothing when it ended in order', () => {
    expect(left(launch('main/a#0', 1), finished())).toEqual([]);
  });

  it('nothing that a later run says it has dealt with', () => {
    const state = fold(processes, entries(RUN, [started(RUN), launch('main/a#0', 1)]));
    const next = runRef(2);
    fold(processes, entries(next, [{ ...started(next), settled: [RUN.run] } as Fact]), state);
    expect(processesOf(state, RUN.run)).toEqual([]);
  });

  it('the same by an index', () => {
    const state = fold(processes, entries(RUN, [started(RUN), launch('main/a#0', 1), launch('main/a#0', 2), land('main/a#0')]));
    const again = unpackProcesses(JSON.parse(JSON.stringify(packProcesses(state))) as ReturnType<typeof packProcesses>);
    expect(again).toEqual(state);
    fold(processes, entries(RUN, [land('main/a#0')]), again);
    expect(processesOf(again, RUN.run)).toEqual([]);
  });
});
