/**
 * Describes a call of a script or of a program as the operation that `perform` makes: its place, its sample, its definition.
 * workflows-js.md 6.
 *
 * SAMPLED-1  A call has its path before anything is awaited: ordinals follow the order in which a branch calls.
 * SAMPLED-2  Nothing that is written down says more of a request with a secret in it than a keyed digest does.
 */
import { sha256 } from '../../../journal/canonical.js';
import type { DefinitionPart, Json } from '../../../journal/event.js';
import { SECRET_QUESTION, type CallKey, type Fingerprint, type OpPath } from '../../../journal/ids.js';
import { callKey, type CallRequest } from '../../runtime/calls/call-key.js';
import type { CallOperation, FormedCall, LlmCall } from '../../runtime/calls/llm-call.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import type { CallFacts } from '../../runtime/operation.js';
import { siteOf } from '../../runtime/position.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import { toJson } from '../../values/native.js';
import { shortened } from '../../values/shortened.js';
import type { Value } from '../../values/value.js';
import type { Branch } from './branch.js';
import type { AgentPorts, TakenSample } from './ports.js';

interface CalledFunction {
  readonly kind: string;
  readonly fn: string;
  readonly args: readonly Json[];
  /** Identifies the call in the place of its arguments. */
  readonly key?: readonly Json[] | undefined;
  readonly site: CallFacts['site'];
}

/** Completes the operation; its `llm` may replace `request`. */
type OwnParts = Pick<CallOperation, 'name' | 'group' | 'labels' | 'inputs'> & {
  readonly params: readonly string[];
  readonly llm: Pick<LlmCall, 'labels' | 'definition' | 'options'> & Partial<LlmCall>;
};

export interface SampledCall {
  readonly op: OpPath;
  operation(own: OwnParts): CallOperation;
  /** Takes a sample when it is first needed. `sent` are the inputs that hooks left. */
  sample(sent: readonly Value[]): Promise<TakenSample>;
  request(sent: readonly Value[]): Promise<FormedCall>;
  /** The call has a result: the clock of its branch moves by the time that it took when it was executed. */
  ended(): void;
}

const QUESTION_DIGITS = 8;
const PREVIEW_UNITS = 80;

export function sampledCall(ports: Pick<AgentPorts, 'take' | 'elapsedOf'>, branch: Branch, called: CalledFunction): SampledCall {
  const { kind, fn, args, key: identity, site } = called;
  const { op: around, run, module } = branch.frame;
  const requestOf = (number: number, asked: readonly Json[]): CallRequest => ({ fn, args: asked, ...(number > 1 && { attempt: number }) });
  const keyOf = (number: number, asked: readonly Json[]): CallKey => callKey(requestOf(number, asked));
  const askedOf = (sent: readonly Value[]): readonly Json[] => identity ?? sent.map((input) => toJson(input));
  const question = digitsOf(keyOf(1, identity ?? args));
  const segment = `${kind}~${run.secrets.contains(identity ?? args) ? SECRET_QUESTION : question}`; // SAMPLED-2
  const ordinal = branch.nextOrdinal(segment); // SAMPLED-1
  const op = `${around.path}/${segment}#${ordinal}` as OpPath;
  const declaredAt = (): string => siteOf(module, 0);
  const startedMs = run.monotonicMs();
  let taken: TakenSample | undefined;
  let taking: Promise<TakenSample> | undefined;

  async function sample(sent: readonly Value[]): Promise<TakenSample> {
    const asked = askedOf(sent);
    const hasSecret = sent.some(isSecret) || run.secrets.contains(asked);
    taking ??= ports.take({ op, question, hasSecret, keyOf: (number) => keyOf(number, asked) });
    return (taken = await taking);
  }
  const request = async (sent: readonly Value[]): Promise<FormedCall> => {
    const { number } = await sample(sent);
    return { request: requestOf(number, askedOf(sent)) };
  };
  return {
    op,
    sample,
    request,
    operation({ labels, params, llm, ...own }) {
      const call = { declared: fn, called: [fn], params, site, declaredAt, repeatable: false };
      // A prompt of an agent names the problem in the words of the dialect.
      const common = { fn, isCommand: false, sources: [], mentionsProblem: () => true, request };
      return { ...own, kind, segment, ordinal, labels: ['llm', ...labels], call, llm: { ...common, ...llm } };
    },
    ended: () => branch.took((taken && ports.elapsedOf(taken.key)) ?? run.monotonicMs() - startedMs),
  };
}

/** The first digits of a key, without the name of the digest. */
export function digitsOf(key: CallKey): string {
  return key.slice(key.indexOf(':') + 1).slice(0, QUESTION_DIGITS);
}

/** Makes the definition of a call from the texts that it consists of. workflows-js.md 6.3. */
export function definitionOfTexts(texts: readonly (readonly [kind: DefinitionPart['kind'], name: string, text: string])[]): Definition {
  const parts = texts.map(([kind, name, text]): DefinitionPart => {
    const [preview = ''] = text.split('\n');
    return { kind, name, digest: sha256(text), preview: shortened(preview, PREVIEW_UNITS) };
  });
  const digest = sha256(parts.map((part) => `${part.name} ${part.digest}`).join('\n')) as string;
  return { fingerprint: digest as Fingerprint, parts };
}
