/** Loads the memos of a script and of its fork sources, each once and only when it is needed. */
import type { Workflow } from '../../journal/ids.js';
import type { Defect, JournalStore } from '../../journal/store.js';
import { loadWorkflow } from './load.js';
import type { Memo } from './memo.js';

export type MemoOf = (workflow: Workflow) => Promise<Memo>;

export function rememberMemos(store: JournalStore, onDefect: (defect: Defect) => void): MemoOf {
  const memos = new Map<Workflow, Promise<Memo>>();
  return (workflow) => {
    const known = memos.get(workflow) ?? loadWorkflow(store, workflow, { onDefect }).then(({ memo }) => memo);
    memos.set(workflow, known);
    return known;
  };
}
