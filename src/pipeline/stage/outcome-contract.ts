/** Tells a model how to report the outcome of its stage, and reads the report from the end of its reply. graph-pipelines.md 7.3. */
import type { CompiledPipeline } from '../model/compiled-pipeline.js';
import { isObject } from '../../../journal/json-object.js';
import { statusReport, STATUSES, type StatusReport } from './status-file.js';

const REPORT = 'the report at the end of the reply';

/** Returns the text that is sent behind the prompt. It names the labels that lead somewhere from the node. */
export function outcomeContract({ graph, outgoing }: Pick<CompiledPipeline, 'graph' | 'outgoing'>, node: string): string {
  const labels = [...new Set(outgoing(node).flatMap(({ label, condition }) => (label === '' || condition ? [] : [label])))];
  return [
    `You work on the stage ${node} of the pipeline ${graph.name}. End your reply with one line of JSON about how the stage went:`,
    `{"outcome": "success", "notes": ""}`,
    '"outcome" is "success", "partial_success", "fail" (the stage did not reach its aim) or "retry" (another attempt may reach it); ' +
      'with "fail" and "retry" the member "failure_reason" says why.',
    ...(labels.length === 0 ? [] : [`The member "preferred_label" chooses what follows: ${labels.map(quoted).join(', ')}.`]),
    'The member "context_updates" is an object with values that later stages need. Without this line the stage counts as a success.',
  ].join('\n');
}

/** Undefined for a reply without a report. Throws a transient `StageError` for a report that can't be used. */
export function outcomeInReply(reply: string): StatusReport | undefined {
  const text = withoutFence(reply.trim());
  const report = text.slice(lastObjectAt(text));
  if (!/"outcome"\s*:/.test(report)) return undefined;
  const whole = parsed(report);
  return whole === undefined && isOther(report) ? undefined : statusReport(whole, REPORT);
}

/** True for an object with more text behind it, whose outcome is no word of a report: the reply shows it, as it may show any JSON. */
function isOther(text: string): boolean {
  for (let at = text.indexOf('}'), tries = 0; at >= 0 && tries < ENDS_MAX; at = text.indexOf('}', at + 1), tries++) {
    const object = parsed(text.slice(0, at + 1));
    if (isObject(object)) return !STATUSES.includes(String(object.outcome));
  }
  return false;
}

/** An object with more braces is taken for a report that can't be used. */
const ENDS_MAX = 100;

/** Returns where the last line begins that opens an object; the length of the text if there is none. */
function lastObjectAt(text: string): number {
  const at = text.lastIndexOf('\n{');
  if (at >= 0) return at + 1;
  return text.startsWith('{') ? 0 : text.length;
}

/** A model may put its JSON into a fenced block. */
function withoutFence(text: string): string {
  return text.endsWith('```') ? text.slice(0, -3).trimEnd() : text;
}

/** Undefined, which is no report that can be used, for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller refuses it with the words for a report that is no object
  }
}

function quoted(label: string): string {
  return JSON.stringify(label);
}
