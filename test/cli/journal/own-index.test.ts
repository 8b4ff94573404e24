/** The index that a run leaves equals the one that a reader of its journal makes: the same calls in the same order at the same times. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { workflowOf } from '../../../journal/ids.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { decodeSnapshot, type Index } from '../../../replay/memo/snapshot.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** Reused, executed, failed and nested calls side by side. */
const ASK = 'exe llm @ask(q) = js { await new Promise((resolve) => setTimeout(resolve, (Number(q) * 7) % 13)); return "A" + q }\n';
const SCRIPT = `${ASK}exe @range(n) = js { return Array.from({ length: Number(n) }, (_, i) => i) }
exe llm @outer(q) = [
  let @inner = @ask(@q)
  => "O@inner"
]
exe @survey(q) = [
  let @first = @outer(@q)
  => @first
]
var @questions = @range(COUNT)
var @one = for parallel(12) @q in @questions => @ask(@q)
var @two = for parallel(12) @q in @questions => @survey(@q)
show @two.length
`;

function contentOf({ memo, complete, definitions }: Index): unknown {
  const { entries: questions, refused, called, cleanedBy } = memo;
  return { questions: [...questions], refused: [...refused], called: [...called], cleanedBy, complete, definitions };
}

it('is left by runs that execute, reuse and fork, as the journal has them', async () => {
  const lent = `${ASK}var @questions = [${Array.from({ length: 300 }, (_, i) => i * 2).join(', ')}]
var @answers = for parallel(12) @q in @questions => @ask(@q)
`;
  const cwd = await projectFolder({ 'lent.mld': lent, 'job.mld': SCRIPT });
  expect(await callCli(['lent.mld', '--checkpoint'], { cwd })).toMatchObject({ status: 0 });
  const job = workflowOf('job.mld');
  const store = openFileStore(cwd);
  for (const count of ['150', '300']) {
    fs.writeFileSync(path.join(cwd, 'job.mld'), SCRIPT.replace('COUNT', count));
    expect(await callCli(['job.mld', '--fork', 'lent'], { cwd })).toMatchObject({ status: 0, stdout: `${count}\n` });
    const kept = (await store.readDerived(job, 'index')) as Uint8Array;
    const left = decodeSnapshot(kept);
    expect(left?.covered.map(({ run }) => run)).toEqual((await store.runs(job)).map(({ ref }) => ref.run));
    await store.writeDerived(job, 'index', '');
    const read = await loadWorkflow(store, job, { onDefect: (defect) => expect.unreachable(defect.message) });
    expect(contentOf(left!.index)).toEqual(contentOf(read));
    await store.writeDerived(job, 'index', kept);
  }
});
