/** The commands about pipelines. graph-pipelines.md 13. */
import type { WhoAnswers } from '../../src/api/commands/pipeline.js';
import { durationMs } from '../options/duration.js';
import { CALL_FLAGS } from './call-flags.js';
import { JSON_FLAG, RUN_GROUP, TOOLS_GROUP, type CommandRow } from './rows.js';
import { SHOWN_FLAGS } from './run-flags.js';
import { TOKEN_VARIABLE } from './token-variable.js';
import { keyValues, texts, wholeNumber } from './values.js';

const PORT_MAX = 65_535;

const PIPELINE_FILE = { files: ['.dot'] } as const;

/** `mlld run FILE.dot` and `mlld FILE.dot`. */
export const RUN_PIPELINE = {
  does: 'run a pipeline',
  arguments: [{ written: '<file.dot>', does: 'the pipeline', completes: PIPELINE_FILE }],
  flags: [
    { flags: ['yes'], value: 'none', does: 'answer every question with its first choice; short for --ask auto' },
    {
      flags: ['ask'],
      value: 'required',
      written: 'who',
      does: 'who answers questions (default: the console on a terminal, else standard input)',
      choices: ['auto', 'console', 'stdin', 'remote'] satisfies readonly WhoAnswers[],
    },
    {
      flags: ['set'],
      value: 'required',
      written: 'key=value',
      does: 'put a text into the context; repeatable',
      repeatable: true,
      parse: keyValues,
    },
    {
      flags: ['backend'],
      value: 'required',
      written: 'backend',
      does: 'what replies to model stages: simulated, claude, codex, gemini, opencode, cmd:COMMAND, worker:COMMAND, exe:FILE#NAME',
    },
    { flags: ['run-dir'], value: 'required', written: 'folder', does: 'where the files of the run are (default: .mlld/graph/FILE/RUN)' },
    { flags: ['checkpoint'], value: 'none', does: 'reuse the replies that earlier runs recorded for the same walk' },
    {
      flags: ['resume'],
      value: 'optional',
      written: 'node',
      does: 'continue the last run where it ended, or at a node',
      completes: 'pipeline-node',
    },
    {
      flags: ['fork'],
      value: 'required',
      written: 'source',
      does: 'reuse the results of another pipeline first; repeatable',
      repeatable: true,
      completes: 'recorded',
      parse: texts,
    },
    { flags: ['plan'], value: 'none', does: 'print where these flags would begin, which nodes follow and what is reused; nothing runs' },
    JSON_FLAG('with --plan: print the plan as JSON'),
    { flags: ['keep-orphans'], value: 'none', does: 'wait for commands that a killed run left running, instead of ending them' },
    {
      flags: ['timeout'],
      value: 'required',
      written: 'duration',
      does: 'end the run after this time: 900ms, 30s, 5m, 1h',
      parse: (text) => durationMs(text, 'timeout'),
    },
    {
      flags: ['journal-wait'],
      value: 'required',
      written: 'duration',
      does: "how long to wait for a journal that can't be written (default: 60s)",
      parse: (text) => durationMs(text, 'journal-wait'),
    },
    ...SHOWN_FLAGS,
    { flags: ['unrecorded'], value: 'none', does: 'continue without a record when the journal is lost, instead of pausing the run' },
    ...CALL_FLAGS,
  ],
  examples: ['mlld run release.dot --yes', 'mlld run release.dot --resume', 'mlld run release.dot --set berth=4 --ask remote'],
  exits: [
    [4, 'the run reached its end, and calls of it are unresolved; 0 with --allow-failures'],
    [5, 'the run is paused: a lane or the budget is used up, or nothing can be recorded'],
    [6, 'the store of the team takes nothing of this run any more: a new run reuses what is recorded'],
    [130, 'interrupted by Ctrl-C (128 and the number of the signal)'],
  ],
} as const satisfies CommandRow;

export const PIPELINE_COMMANDS = {
  graph: {
    does: 'pictures of pipelines',
    group: TOOLS_GROUP,
    examples: ['mlld graph render release.dot -o release.svg'],
  },
  'graph render': {
    does: 'draw a pipeline as SVG',
    arguments: [{ written: '<file.dot>', does: 'the pipeline', completes: PIPELINE_FILE }],
    flags: [
      {
        flags: ['output', 'o'],
        value: 'required',
        written: 'file.svg',
        does: 'where to write the picture; - is standard output',
        mandatory: true,
      },
      {
        flags: ['run'],
        value: 'required',
        written: 'run',
        does: 'colour the nodes by their outcomes in this run: a run id or a beginning of one, or latest',
        completes: 'run',
      },
    ],
    examples: ['mlld graph render release.dot -o release.svg', 'mlld graph render release.dot --run latest -o release.svg'],
  },
  answer: {
    does: 'answer a question of a running pipeline (mlld run FILE.dot --ask remote)',
    short: 'answer a question of a running pipeline',
    group: RUN_GROUP,
    arguments: [
      {
        written: '<run>',
        does: 'the run: its id or a beginning of it, a pipeline by name (its latest run), or latest (the latest that waits)',
        completes: 'recorded-pipeline',
      },
      { written: '[choice]', does: 'key or label of the choice; without one, the error names the question and its choices' },
    ],
    flags: [
      {
        flags: ['question'],
        value: 'required',
        written: 'id',
        does: 'which question, when several wait (default: the one that has waited longest)',
      },
    ],
    examples: ['mlld answer latest O', 'mlld answer release O', 'mlld answer 20260412-081502-221-5c1e "Keep shut" --question q2'],
  },
  serve: {
    does: 'run pipelines that are sent over HTTP, and show them on a page; Ctrl-C ends the server and its runs in order',
    short: 'show runs on a page, and run pipelines over HTTP',
    group: RUN_GROUP,
    flags: [
      {
        flags: ['host'],
        value: 'required',
        written: 'address',
        does: 'the address to listen on; any but this machine needs a token',
        default: '127.0.0.1',
      },
      {
        flags: ['port'],
        value: 'required',
        written: 'number',
        does: 'the port to listen on; 0 takes any that is free',
        default: 7411,
        parse: wholeNumber(0, PORT_MAX),
      },
      {
        flags: ['token'],
        value: 'required',
        written: 'token',
        does: `what clients have to send as Authorization: Bearer TOKEN (better: the variable ${TOKEN_VARIABLE})`,
      },
      {
        flags: ['token-file'],
        value: 'required',
        written: 'file',
        does: 'tokens with roles, one a line: read TOKEN sees everything, run TOKEN may start, answer, resume and cancel as well',
      },
      {
        flags: ['max-runs'],
        value: 'required',
        written: 'number',
        does: 'how many pipelines may run at a time',
        default: 64,
        parse: wholeNumber(1, Number.MAX_SAFE_INTEGER),
      },
      { flags: ['resume-runs'], value: 'none', does: 'continue the runs that an earlier server left when it was killed or ended' },
      JSON_FLAG('print the address as a line of JSON'),
    ],
    examples: [
      'mlld serve',
      'mlld serve --port 0 --json',
      `${TOKEN_VARIABLE}=$(openssl rand -hex 32) mlld serve --host 0.0.0.0`,
      `jq -n --rawfile dot release.dot '{dot: $dot}' | curl -d @- http://127.0.0.1:7411/pipelines`,
    ],
  },
} as const satisfies { readonly [path: string]: CommandRow };
