/** The commands about the store of a team: `mlld store …`. */
import { JSON_FLAG, type CommandRow } from './rows.js';

export const STORE_COMMANDS = {
  store: {
    does: 'look at the store of a team, make its tables, and bring runs into it; MLLD_STORE or "store" in mlld-config.json names it',
    short: 'look at the store of a team, and make its tables',
    group: 'A team:',
    examples: ['mlld store status', 'mlld store migrate', 'mlld store copy --from .'],
  },
  'store status': {
    does: 'say where the runs of this project are kept: server, version of the tables, size, runs',
    flags: [JSON_FLAG('print the report as JSON')],
    examples: ['mlld store status', 'mlld store status --json'],
    exits: [[1, 'the store could not be reached, or has no tables of this version']],
  },
  'store migrate': {
    does: 'make the tables of the store, or lift them to this version; once, as the owner of the database',
    flags: [
      { flags: ['dry-run'], value: 'none', does: 'say what would be done' },
      { flags: ['yes'], value: 'none', does: 'also as a superuser, who will own the tables' },
      JSON_FLAG('print the report as JSON'),
    ],
    examples: ['mlld store migrate --dry-run', 'mlld store migrate'],
    exits: [[1, 'nothing was changed']],
  },
  'store copy': {
    does: 'copy all runs of this project from the files below a folder into the store, or back; ids and lines stay as they are',
    flags: [
      {
        flags: ['from'],
        value: 'required',
        written: 'dir',
        does: 'the folder of a project: its runs are copied into the store',
        completes: { files: [] },
      },
      {
        flags: ['to'],
        value: 'required',
        written: 'dir',
        does: 'the folder of a project: the runs of the store are copied to it',
        completes: { files: [] },
      },
      JSON_FLAG('print the report as JSON'),
    ],
    examples: ['mlld store copy --from .', 'mlld store copy --to /mnt/archive/patrol'],
    exits: [[1, 'a run was left out, or something could not be read or written']],
  },
  'store push': {
    does: 'bring into the store what runs here recorded while it could not be reached; every command that records does so first',
    flags: [JSON_FLAG('print the report as JSON')],
    examples: ['mlld store push'],
    exits: [[1, 'something could not be brought in; it is kept here']],
  },
  'store budget': {
    does: 'show the budgets that all runs of this project share, make one, or change its sum; mlld run --budget NAME is held to it',
    arguments: [
      { written: '[name]', does: 'a name that begins with a letter; without it all are shown' },
      { written: '[sum]', does: '50usd, 2Mtok or 300calls: makes the budget, or changes its sum; what is spent stays' },
    ],
    flags: [
      {
        flags: ['per'],
        value: 'required',
        written: 'period',
        does: 'day or month (of UTC): begins anew with each; project: never',
        choices: ['day', 'month', 'project'],
      },
      JSON_FLAG('print the budget, or all of them, as JSON'),
    ],
    examples: ['mlld store budget nightly 50usd --per day', 'mlld store budget nightly', 'mlld run patrol --checkpoint --budget nightly'],
    exits: [[1, 'the sum could not be read, or there is no such budget or store']],
  },
  'store rebuild': {
    does: 'make anew what the store derives from its journals: the index of results, claims, and what budgets have spent; after a backup was restored',
    flags: [{ flags: ['dry-run'], value: 'none', does: 'say what would change' }, JSON_FLAG('print the report as JSON')],
    examples: ['mlld store rebuild --dry-run', 'mlld store rebuild'],
    exits: [[1, 'a run is in flight, or the store could not be reached: nothing was changed']],
  },
  'store seal': {
    does: 'take a run away from a writer that was not heard of for a lease: it can append nothing more, and its run reads as crashed',
    arguments: [{ written: '<run>', does: 'a run of the store: its id, the beginning of it, or the name of a script', completes: 'run' }],
    flags: [JSON_FLAG('print the run as JSON')],
    examples: ['mlld store seal latest'],
    exits: [[1, 'the run is in flight, has ended, or is not there']],
  },
} as const satisfies { readonly [words: string]: CommandRow };
