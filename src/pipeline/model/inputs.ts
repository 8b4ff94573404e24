/** Reads the inputs that a graph declares: `graph [input.berth=4, input.note=""]`. graph-pipelines.md 8.1. */
import { MlldError } from '../../errors.js';
import { graphAttribute, type Graph } from './graph.js';

/** A value that `--set` may give. */
export interface PipelineInput {
  readonly key: string;
  /** The type of the default as it is written; `text` for every other. */
  readonly kind: 'integer' | 'number' | 'boolean' | 'text';
  /** The text of the default. */
  readonly default: string;
  /** True for a key that `secrets` names: its default is not used. */
  readonly isSecret: boolean;
}

const PREFIX = 'input.';

export function declaredInputs(graph: Graph): readonly PipelineInput[] {
  const secrets = new Set((graphAttribute(graph, 'secrets') ?? '').split(',').map((key) => key.trim()));
  return [...graph.attributes].flatMap(([name, { value }]) => {
    const key = name.slice(PREFIX.length);
    if (!name.startsWith(PREFIX) || key === '') return [];
    return [{ key, kind: KINDS[value.kind] ?? 'text', default: value.text, isSecret: secrets.has(key) }];
  });
}

const KINDS: { readonly [kind: string]: PipelineInput['kind'] } = { integer: 'integer', float: 'number', boolean: 'boolean' };

const NAMES: { readonly [K in PipelineInput['kind']]: string } = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  text: 'a text',
};

const FORMS: { readonly [K in PipelineInput['kind']]: RegExp } = {
  integer: /^-?\d+$/,
  number: /^-?(?:\d+\.?\d*|\.\d+)$/,
  boolean: /^(?:true|false)$/,
  text: /^/,
};

/** Returns the values of a run: what was set, and the defaults of the rest. @throws MlldError INPUT_VALUE */
export function valuesOfInputs(graph: Graph, set: { readonly [key: string]: string }): { readonly [key: string]: string } {
  const inputs = declaredInputs(graph);
  for (const { key, kind, default: fallback } of inputs) {
    const value = Object.hasOwn(set, key) ? set[key] : undefined;
    if (value === undefined || FORMS[kind].test(value)) continue;
    throw new MlldError('INPUT_VALUE', `--set ${key}=${value}: this input is ${NAMES[kind]}`, {
      hint: `for example --set ${key}=${fallback}; graph [${PREFIX}${key}=…] in the pipeline declares it`,
    });
  }
  const defaults = inputs.filter(({ isSecret }) => !isSecret).map(({ key, default: fallback }) => [key, fallback] as const);
  return { ...Object.fromEntries(defaults), ...set };
}

/** Returns the keys that were set and are no inputs; none where the graph declares none. */
export function undeclaredKeys(graph: Graph, set: { readonly [key: string]: string }): readonly string[] {
  const declared = new Set(declaredInputs(graph).map(({ key }) => key));
  return declared.size === 0 ? [] : Object.keys(set).filter((key) => !declared.has(key));
}
