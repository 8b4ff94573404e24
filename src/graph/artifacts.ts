/** Named outputs that are too large for the context. Each is in the journal; large ones are files for people too. Reference 8.4. */
import type { Json } from '../../journal/event.js';
import type { OpPath } from '../../journal/ids.js';
import type { GraphRun } from './graph-run.js';

/** Above this an output doesn't stay in the context, and its artifact is a file. */
export const INLINE_BYTES_MAX = 102_400;

export async function storeArtifact(
  run: GraphRun,
  {
    op,
    id,
    name,
    node,
    data,
  }: { readonly op: OpPath; readonly id: string; readonly name: string; readonly node: string; readonly data: Json },
): Promise<void> {
  const sizeBytes = Buffer.byteLength(typeof data === 'string' ? data : JSON.stringify(data));
  const fileBacked = sizeBytes > INLINE_BYTES_MAX;
  const { world, answers } = run.frame.run;
  const payload = await answers.payload(data);
  if (fileBacked) await world.ask('file.write', { path: run.folder.artifactFile(id), text: `${JSON.stringify(data)}\n` });
  run.ledger.post({ type: 'artifact.stored', op, id, name, node, sizeBytes, fileBacked, payload });
}
