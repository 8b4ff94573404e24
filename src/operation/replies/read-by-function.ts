/** Reads a reply by a function of the script (`reply: @fn`). calls.md 7.7. */
import type { Failure } from '../../calls/failure.js';
import type { ReplyFunction, ReplyPlace } from '../../calls/options.js';
import { classesOfReports, readFailure, readUsage, type Ignored } from '../../calls/read-report.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import type { Reply } from '../../calls/replies/reply.js';
import { isObject } from '../../../journal/json-object.js';
import { endsTheRun } from '../../runtime/errors.js';
import { toJson } from '../../values/native.js';
import { flow, type Value } from '../../values/value.js';
import { withoutUndefined } from '../../values/without-undefined.js';

export interface ReadByFunction {
  readonly reply: ReadReply;
  /** The value that the function returned: its labels are those of the result too. */
  readonly returned?: Value;
}

/** `known` is what the reply says without the function: its status counts where the function names no class. */
export async function readByFunction(
  read: ReplyFunction,
  reply: Reply & { readonly durationMs: number },
  from: { readonly known: ReadReply; readonly printed: Value; readonly place: ReplyPlace; readonly nowMs: number },
): Promise<ReadByFunction> {
  const { name } = read;
  const { known, printed, place, nowMs } = from;
  const { headers, failure } = known;
  const common = withoutUndefined<ReadReply>({ adapter: name, headers });
  // That the text is empty is for the function to judge.
  const byStatus = failure?.class === 'bad-reply' ? undefined : failure;
  const bad = (message: string): ReadByFunction => ({ reply: { ...common, failure: byStatus ?? badReply(`${name}: ${message}`) } });
  let returned: Value;
  try {
    const { stdout, stderr, exitCode, durationMs } = reply;
    returned = await read.read(flow({ stdout, stderr, exitCode, durationMs }, [printed]), place);
  } catch (error) {
    if (endsTheRun(error)) throw error;
    return bad((error as Error).message);
  }
  const found = toJson(returned ?? null);
  if (!isObject(found)) return bad('it returned no object');
  const { answer, usage, model, session, class: failureClass, message, retryAfterMs, resetsAt } = found;
  const warn = (ignored: readonly Ignored[]): void =>
    ignored.forEach(({ member, why }) => place.warn(`reply ${member}`, `${member} of what ${name} returned is ignored: it ${why}`));
  const counted = readUsage({ ...(isObject(usage) ? usage : {}), ...(model === undefined ? {} : { model }) });
  warn(counted.ignored);
  if (usage !== undefined && usage !== null && !isObject(usage)) warn([{ member: 'usage', why: 'is not an object' }]);
  if (session !== undefined && session !== null && typeof session !== 'string') warn([{ member: 'session', why: 'is not a text' }]);
  const about = {
    ...common,
    ...(Object.keys(counted.value).length > 0 && { usage: counted.value }),
    ...(typeof session === 'string' && session !== '' && { session }),
  };
  if (failureClass !== undefined && failureClass !== null) {
    const failed = readFailure(failureClass, message, { retryAfterMs, resetsAt }, nowMs);
    if (!failed) return bad(`there is no class ${JSON.stringify(failureClass)} (there are ${classesOfReports()})`);
    warn(failed.ignored);
    return { reply: { ...about, failure: { ...failed.value, evidence: 'envelope' } }, returned };
  }
  if (byStatus) return { reply: { ...about, failure: byStatus }, returned };
  if (answer === undefined || answer === null || (typeof answer === 'string' && answer.trim() === '')) {
    return { reply: { ...about, failure: badReply(`${name} found no answer in the reply`) }, returned };
  }
  return { reply: { ...about, ...(typeof answer === 'string' ? { text: answer } : { data: answer }) }, returned };
}

function badReply(message: string): Failure {
  return { class: 'bad-reply', evidence: 'envelope', message: message.trim().split('\n')[0] ?? '' };
}
