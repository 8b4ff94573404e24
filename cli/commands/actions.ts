/** The function behind each command. It is loaded when the command is called, so that no command pays for the others. */
import type { Io } from '../terminal/io.js';
import type { ParsedCommand } from '../command-table/commands.js';

/**
 * Takes the words of the command as the table lists them, then its flags. Resolves to the exit status, or to undefined for success.
 * `never`: each action declares its own words and flags, and commander has checked them by the table.
 */
export type Action = (io: Io, ...words: never[]) => Promise<number | undefined | void>;

export const ACTIONS: { readonly [words in ParsedCommand]: () => Promise<Action> } = {
  init: async () => (await import('./start/init.js')).init,
  docs: async () => (await import('./start/docs.js')).docs,
  validate: async () => (await import('./validate.js')).validateCommand,
  'checkpoint list': async () => (await import('./checkpoint.js')).listEntries,
  'checkpoint inspect': async () => (await import('./checkpoint.js')).inspect,
  'checkpoint clean': async () => (await import('./checkpoint.js')).clean,
  'journal list': async () => (await import('./journal/list.js')).listRuns,
  'journal show': async () => (await import('./journal/show.js')).show,
  'journal cat': async () => (await import('./journal/cat.js')).cat,
  'journal explain': async () => (await import('./journal/explain.js')).explain,
  'journal replay': async () => (await import('./journal/replay.js')).replay,
  'journal postmortem': async () => (await import('./journal/postmortem.js')).postMortem,
  'journal audit': async () => (await import('./journal/audit.js')).audit,
  'journal diff': async () => (await import('./journal/diff.js')).diff,
  'journal stats': async () => (await import('./journal/stats.js')).stats,
  'journal export': async () => (await import('./journal/export.js')).exportRun,
  'journal gc': async () => (await import('./journal/gc.js')).gc,
  'journal redact': async () => (await import('./journal/redact.js')).redact,
  'journal reject': async () => (await import('./journal/reject.js')).reject,
  'journal bundle': async () => (await import('./journal/bundle.js')).bundle,
  'journal unbundle': async () => (await import('./journal/bundle.js')).unbundle,
  'journal report': async () => (await import('./journal/report.js')).report,
  'journal open': async () => (await import('./journal/open.js')).open,
  'journal verify': async () => (await import('./journal/verify.js')).verify,
  'graph render': async () => (await import('./graph.js')).renderPipeline,
  'modules add': async () => (await import('./modules.js')).add,
  'modules list': async () => (await import('./modules.js')).list,
  'modules verify': async () => (await import('./modules.js')).verify,
  'modules remove': async () => (await import('./modules.js')).remove,
  'modules outdated': async () => (await import('./modules.js')).outdated,
  'store status': async () => (await import('./store/status.js')).status,
  'store copy': async () => (await import('./store/upkeep.js')).copy,
  'store push': async () => (await import('./store/upkeep.js')).push,
  'store budget': async () => (await import('./store/budget.js')).budget,
  'store seal': async () => (await import('./store/upkeep.js')).seal,
  'store rebuild': async () => (await import('./store/rebuild.js')).rebuild,
  'store migrate': async () => (await import('./store/status.js')).migrate,
  worker: async () => (await import('./store/worker.js')).worker,
  'worker status': async () => (await import('./store/worker.js')).status,
  answer: async () => (await import('./answer.js')).answer,
  serve: async () => (await import('./serve.js')).serve,
  lsp: async () => (await import('./editor/lsp.js')).lsp,
  completion: async () => (await import('./completion.js')).completion,
};
