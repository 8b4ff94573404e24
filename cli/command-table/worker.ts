/** The commands about workers, which execute calls of runs on other machines. team-store.md 7. */
import { InvalidValue, JSON_FLAG, type CommandRow } from './rows.js';

const LANE = /^(?<name>[^=]+)=(?<count>[1-9]\d{0,3})$/;
const COUNT_MAX = 9999;
/** It stands in tables and messages of all runs of the project. */
const NAME = /^[^\p{C}\p{Z}](?:[^\p{C}]{0,98}[^\p{C}\p{Z}])?$/u;

function countIn(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > COUNT_MAX) throw new InvalidValue(`a whole number up to ${COUNT_MAX} is expected`);
  return count;
}

function laneIn(text: string, earlier: unknown): { readonly [lane: string]: number } {
  const found = LANE.exec(text)?.groups;
  if (found?.['name'] === undefined) throw new InvalidValue(`NAME=COUNT is expected, with a count from 1 to ${COUNT_MAX}: claude=4`);
  const lanes = earlier as { readonly [lane: string]: number } | undefined;
  if (lanes && Object.hasOwn(lanes, found['name'])) throw new InvalidValue('the lane was given before');
  return { ...lanes, [found['name']]: Number(found['count']) };
}

function nameIn(text: string): string {
  if (!NAME.test(text)) throw new InvalidValue('a name of one line is expected, of 1 to 100 characters');
  return text;
}

export const WORKER_COMMANDS = {
  worker: {
    does: 'execute llm calls that runs of the project offer (mlld run NAME --checkpoint --workers); Ctrl-C ends what it holds and takes nothing new',
    short: 'execute calls that runs on other machines offer',
    group: 'A team:',
    flags: [
      {
        flags: ['lanes'],
        value: 'required',
        written: 'count',
        does: 'calls at a time, of functions that name no lane (default: 4; 0 with --lane)',
        parse: countIn,
      },
      {
        flags: ['lane'],
        value: 'required',
        written: 'name=count',
        does: 'calls at a time of functions that name this lane: with { lane: "claude" }; repeatable',
        repeatable: true,
        parse: laneIn,
      },
      {
        flags: ['root'],
        value: 'required',
        written: 'dir',
        does: 'execute calls in this folder, which has the files that they read; by default each has an empty one',
        completes: { files: [] },
      },
      {
        flags: ['name'],
        value: 'required',
        written: 'name',
        does: 'its name in reports (default: host and number of the process)',
        parse: nameIn,
      },
      { flags: ['once'], value: 'none', does: 'end when nothing is offered, and runs whose calls it executed offer no more within 5 s' },
      JSON_FLAG('print what it did as JSON at the end'),
    ],
    examples: ['mlld worker --lanes 8', 'mlld worker --lane claude=4 --lane gpu=1', 'mlld worker --lanes 8 --once'],
    exits: [
      [1, 'the store can not be used, or there is no such folder'],
      [5, 'the store is away: what it did not take is kept here, and the next worker or run in this folder brings it in'],
      [6, 'the store takes nothing more of this worker: its run was sealed, or the store went back'],
    ],
  },
  'worker status': {
    does: 'say which workers of the project are at work, what they did, and what waits for one',
    flags: [JSON_FLAG('print the report as JSON')],
    examples: ['mlld worker status', 'mlld worker status --json'],
    exits: [[1, 'the runs of this project are kept in files, or the store could not be reached']],
  },
} as const satisfies { readonly [words: string]: CommandRow };
