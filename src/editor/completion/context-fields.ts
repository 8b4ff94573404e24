/** The fields of `@mx` for completion, each with its own. A test compares them with those of a run. control.md 25, instrumentation.md 8. */

interface ContextField {
  readonly detail: string;
  readonly fields?: readonly string[];
}

const LOOP = ['iteration', 'limit', 'active'];

export const CONTEXT_FIELDS: { readonly [name: string]: ContextField } = {
  op: { detail: 'the operation: of a function, hook or guard', fields: ['type', 'subtype', 'name', 'labels', 'target'] },
  for: { detail: 'the innermost `for`', fields: ['index', 'total', 'key', 'parallel', 'batchIndex', 'batchSize'] },
  loop: { detail: 'the innermost `loop`', fields: LOOP },
  while: { detail: 'the innermost `while` stage', fields: LOOP },
  stage: { detail: 'the number of the stage, from 1' },
  isPipeline: { detail: 'true in a stage' },
  try: { detail: 'the number of the attempt of a stage, from 1' },
  tries: { detail: 'the earlier attempts of a stage' },
  hint: { detail: 'the text of the latest `retry`' },
  input: { detail: 'what is piped into a stage' },
  lastOutput: { detail: 'the result of the stage before' },
  errors: { detail: 'markers of the latest parallel loop or group' },
  denied: { detail: 'true where a denial is handled' },
  args: { detail: 'the arguments of a guarded call by their names', fields: ['names'] },
  guard: {
    detail: 'the guard, or the denial that is handled',
    fields: [
      'denied', 'decision', 'name', 'reason', 'reasons', 'hints', 'trace', 'filter', 'timing', 'try', 'max', 'tries', 'hintHistory',
    ],
  }, // prettier-ignore
  checkpoint: { detail: 'the result cache, in hooks of a call', fields: ['hit', 'key'] },
  hooks: { detail: 'errors in hooks', fields: ['errors'] },
  usage: { detail: 'tokens and cost of the run so far' },
  cost: { detail: 'dollars of the run so far' },
  call: {
    detail: 'the llm call, in its hooks, guards and body',
    fields: ['try', 'outcome', 'attempts', 'class', 'problem', 'lane', 'model', 'usage', 'cost', 'session'],
  },
  labels: { detail: 'labels of the inputs of the operation' },
  taint: { detail: 'labels of the inputs and of what they were made of' },
};
