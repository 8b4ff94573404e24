/** All commands, by their words. The order is that of the help. */
import { JOURNAL_COMMANDS } from './journal.js';
import { MODULES_COMMANDS } from './modules.js';
import { PIPELINE_COMMANDS } from './pipelines.js';
import { JSON_FLAG, RUN_GROUP, TOOLS_GROUP, type CommandRow } from './rows.js';
import { runFlags } from './run-flags.js';
import { START_COMMANDS } from './start.js';
import { STORE_COMMANDS } from './store.js';
import { WORKER_COMMANDS } from './worker.js';
import { OWN_WORKFLOW_FLAGS } from './workflow-flags.js';

/** `mlld` without a command. */
export const PROGRAM: CommandRow = {
  does:
    'Runs long LLM workflows, and pays for no call twice. mlld FILE takes the options of mlld run as well, and records with one of ' +
    '--checkpoint, --resume, --fork and --fresh. Any other flag, and every flag after --, becomes a member of @payload.',
  usage: 'COMMAND ...\n       mlld FILE [options] [--name value ...]\n       mlld -e CODE [options] [--name value ...]',
  flags: [{ flags: ['version'], value: 'none', does: 'print the version' }, ...runFlags('file')],
  examples: [
    'mlld init reviews --template review',
    'mlld run nightly --checkpoint',
    'mlld journal postmortem latest',
    'mlld report.mld --topic tides',
    'mlld -e \'show "hello"\'',
    'cat page.html | mlld digest.mld',
  ],
  exits: [
    [0, 'success'],
    [1, 'an error: in the command line, in the script, or found by a check'],
    [2, 'mlld journal diff: the runs could not be compared'],
    [3, 'mlld journal replay: the replay diverged from the record'],
    [4, 'the run reached its end, and calls of it are unresolved; 0 with --allow-failures'],
    [5, 'the run is paused: a lane or the budget is used up, or nothing can be recorded'],
    [6, 'the store of the team takes nothing of this run any more: a new run reuses what is recorded'],
    [130, 'interrupted by Ctrl-C (128 and the number of the signal)'],
  ],
};

export const COMMANDS = {
  ...START_COMMANDS,
  run: {
    does: 'run a script of the project by its name, and record the run; without a name, list the scripts',
    short: 'run a workflow by its name, and record the run',
    group: RUN_GROUP,
    usage: '[NAME] [options] [--name value ...]',
    arguments: [
      {
        written: '[name]',
        does: 'a script of the project, or the path of a pipeline (.dot) or of a workflow script (.js)',
        completes: 'script-or-pipeline',
      },
    ],
    flags: runFlags('run'),
    otherFlags: { title: 'Options of a workflow script (.js, .mjs):', flags: OWN_WORKFLOW_FLAGS },
    examples: [
      'mlld run',
      'mlld run nightly --checkpoint --model opus',
      'mlld run nightly -- --mode fast',
      'mlld run nightly --checkpoint --budget 5usd,3h --wait-quota 2h',
      'mlld run nightly --resume failed --plan',
      "mlld run nightly --resume '@review'",
      'mlld run nightly --resume "after collecting"',
      'mlld run .claude/workflows/audit.js --args \'{"berths": ["north"]}\' --backend claude',
    ],
    exits: [
      [4, 'the run reached its end, and calls of it are unresolved; 0 with --allow-failures'],
      [5, 'the run is paused: a lane or the budget is used up, or nothing can be recorded'],
      [6, 'the store of the team takes nothing of this run any more: a new run reuses what is recorded'],
      [130, 'interrupted by Ctrl-C (128 and the number of the signal)'],
    ],
  },
  validate: {
    does: 'check scripts, templates and pipelines without running them',
    group: RUN_GROUP,
    alias: 'analyze',
    arguments: [
      {
        written: '<path>',
        does: 'a .mld, .mld.md, .att, .mtt or .dot file, or a folder of scripts and templates',
        completes: { files: ['.mld', '.mld.md', '.att', '.mtt', '.dot'] },
      },
    ],
    flags: [
      { flags: ['deep'], value: 'none', does: 'follow imports and templates' },
      { flags: ['verbose'], value: 'none', does: 'print the full report of every file of a folder' },
      { flags: ['error-on-warnings'], value: 'none', does: 'fail when there are warnings' },
      { flags: ['strict'], value: 'none', does: 'the same as --error-on-warnings' },
      {
        flags: ['format'],
        value: 'required',
        written: 'format',
        does: 'how to print the report',
        choices: ['text', 'json'],
        default: 'text',
      },
      JSON_FLAG('short for --format json'),
    ],
    examples: ['mlld validate nightly.mld --deep', 'mlld validate . --error-on-warnings', 'mlld validate llm --json'],
    exits: [[1, 'a file has errors (with --error-on-warnings or --strict: or warnings)']],
  },
  ...JOURNAL_COMMANDS,
  ...STORE_COMMANDS,
  ...WORKER_COMMANDS,
  ...PIPELINE_COMMANDS,
  ...MODULES_COMMANDS,
  lsp: {
    does: 'answer an editor about scripts, templates and pipelines: the language server protocol on standard input and output',
    short: 'answer an editor: the language server protocol',
    group: TOOLS_GROUP,
    flags: [{ flags: ['stdio'], value: 'none', does: 'for editors that say how they connect: this is the only way' }],
    examples: ['mlld lsp'],
    exits: [
      [1, 'the editor ended it without shutting it down'],
      [130, 'interrupted by Ctrl-C (128 and the number of the signal)'],
    ],
  },
  completion: {
    does: 'print the script that completes mlld commands in a shell',
    group: TOOLS_GROUP,
    arguments: [{ written: '<shell>', does: 'the shell that runs the script', choices: ['bash', 'zsh', 'fish'] }],
    examples: ['source <(mlld completion bash)', 'source <(mlld completion zsh)', 'mlld completion fish | source'],
  },
} as const satisfies { readonly [words: string]: CommandRow };

export type CommandWords = keyof typeof COMMANDS;
/** Commands that only hold others. */
export type Group = 'checkpoint' | 'journal' | 'graph' | 'modules' | 'store';
/** Commands that do something, and whose words commander parses. */
export type ParsedCommand = Exclude<CommandWords, Group | 'run'>;

export const COMMAND_ROWS: readonly (readonly [words: CommandWords, row: CommandRow])[] = Object.entries(COMMANDS) as [
  CommandWords,
  CommandRow,
][];
