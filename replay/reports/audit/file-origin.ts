/**
 * Finds the calls that led to a file. A journal has no lineage of values, so each call comes with its evidence, the strongest first:
 *
 * - `wrote`: the file was written inside the call, or is one of its declared output files
 * - `quoted`: a text of its result is in the file, as the file was written
 * - `before`: it ended before the file was written, in the same iteration of the innermost loop (or in the run, outside loops)
 */
import type { Json } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { AuditedCall, AuditedFile } from './audit.js';
import { ancestorsOf, isInside, iterationOf } from '../../fold/op-path.js';

export type Evidence = 'wrote' | 'quoted' | 'before';

export interface Origin {
  readonly call: AuditedCall;
  readonly evidence: Evidence;
}

/** Shorter texts are everywhere ("yes", "1"): they count only as a whole line, or as a text in JSON. */
const QUOTE_UNITS_MIN = 8;

/** Finds the calls that wrote the file or may have led to its last write. */
export function originsOf(
  write: Pick<AuditedFile, 'op' | 'seq'>,
  calls: readonly AuditedCall[],
  isFile: (path: string) => boolean,
): Origin[] {
  const around = write.op === undefined ? undefined : iterationAround(write.op);
  const origins: Origin[] = [];
  for (const call of calls) {
    // A command may have written before it failed.
    const gaveResult = call.outcome === 'executed' || call.outcome === 'reused' || call.outputs !== undefined;
    if (!gaveResult) continue;
    const wrote = (write.op !== undefined && isInside(write.op, call.op)) || call.outputs?.some(({ path }) => isFile(path)) === true;
    if (wrote) origins.push({ call, evidence: 'wrote' });
    else if (call.seq < write.seq && (around === undefined || isInside(call.op, around))) origins.push({ call, evidence: 'before' });
  }
  return origins;
}

/** Looks results up in the content: a call that is quoted there has stronger evidence than one that only ended before. */
export async function withQuotes(
  origins: readonly Origin[],
  content: string,
  answerOf: (call: AuditedCall) => Promise<Json | undefined>,
): Promise<readonly Origin[]> {
  const found: Origin[] = [];
  for (const origin of origins) {
    const isQuoted = origin.evidence === 'before' && stands(await answerOf(origin.call), content);
    found.push(isQuoted ? { ...origin, evidence: 'quoted' } : origin);
  }
  return found;
}

function iterationAround(op: OpPath): OpPath | undefined {
  if (iterationOf(op) !== undefined) return op;
  for (const path of ancestorsOf(op)) if (iterationOf(path) !== undefined) return path;
  return undefined;
}

/** Looks for any text of the result in the content, also as JSON writes it. */
function stands(answer: Json | undefined, content: string): boolean {
  if (answer === undefined || answer === null) return false;
  if (typeof answer === 'string') {
    const text = answer.trim();
    if (text === '') return false;
    const asJson = JSON.stringify(text);
    if (text.length < QUOTE_UNITS_MIN) return content.includes(asJson) || `\n${content}\n`.includes(`\n${text}\n`);
    return content.includes(text) || content.includes(asJson.slice(1, -1));
  }
  if (typeof answer === 'object') return Object.values(answer).some((member: Json) => stands(member, content));
  return false;
}
