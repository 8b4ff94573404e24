/** The words around a prompt, and the result in an answer. workflows-js.md 3.1 and 9.2. */
import type { Json } from '../../../journal/event.js';
import type { ResultSchema } from '../../calls/schema/compile-schema.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { Data, Value } from '../../values/value.js';
import type { AgentAnswer } from '../backends/backend.js';

interface Circumstances {
  readonly takesSchema: boolean;
  readonly problem: readonly string[] | undefined;
}

export function promptFor(prompt: string, schema: Json | undefined, { takesSchema, problem }: Circumstances): string {
  const wanted =
    schema === undefined || takesSchema ? '' : `\n\nReply with nothing but JSON that fits this JSON Schema:\n${JSON.stringify(schema)}`;
  const refused = problem === undefined ? '' : `\n\nYour last reply was refused: ${problem.join('; ')}`;
  return `${prompt}${wanted}${refused}`;
}

/** Throws the failure of the attempt for an answer of nothing but blanks. What does not fit the schema is left to the attempt. */
export function answerOf(answer: AgentAnswer, schema: ResultSchema | undefined): Value {
  if ('data' in answer) return answer.data as Data;
  const { text } = answer;
  if (text.trim() === '') throw new AttemptFailed({ class: 'bad-reply', evidence: 'none', message: 'the agent said nothing' });
  if (!schema) return text;
  const candidates = jsonIn(text);
  return (candidates.find((each) => schema.problemsIn(each).length === 0) ?? candidates[0] ?? text) as Data;
}

/** The whole text, else a fenced block, else what stands between the first `{` and the last `}`. */
function jsonIn(text: string): readonly Json[] {
  const fences = [...text.matchAll(/^[ \t]*(`{3,})[^\n`]*\n([\s\S]*?)\n?[ \t]*\1[ \t]*$/gm)].map(([, , inside = '']) => inside);
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  return [text, ...fences, braces].flatMap((each) => {
    try {
      return [JSON.parse(each) as Json];
    } catch {
      return [];
    }
  });
}
