/**
 * Makes a call of a script or of a program: the operation that `perform` makes, with its place, its sample and its definition.
 * workflows-js.md 6.
 *
 * SAMPLED-1  A call has its path before anything is awaited: ordinals follow the order in which a branch calls.
 * SAMPLED-2  Nothing that is written down says more of a request with a secret in it than a keyed digest does.
 * SAMPLED-3  A replay executes nothing, whoever answered: the results of its calls are the recorded ones.
 */
import { sha256 } from '../../../journal/canonical.js';
import type { DefinitionPart, Json } from '../../../journal/event.js';
import type { CallKey, Fingerprint, OpPath } from '../../../journal/ids.js';
import { decodeResult } from '../../operation/encode-result.js';
import { perform } from '../../operation/perform.js';
import { callKey, type CallRequest } from '../../runtime/calls/call-key.js';
import type { CallOperation, FormedCall, LlmCall } from '../../runtime/calls/llm-call.js';
import { valueIn } from '../../runtime/completion.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import type { Frame } from '../../runtime/frame.js';
import type { CallFacts } from '../../runtime/operation.js';
import { siteOf } from '../../runtime/position.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import { toJson } from '../../values/native.js';
import { shortened } from '../../values/shortened.js';
import type { Data, Value } from '../../values/value.js';
import type { Branch } from './branch.js';
import type { AgentPorts, TakenSample } from './ports.js';

interface CalledFunction {
  readonly kind: string;
  readonly fn: string;
  readonly args: readonly Json[];
  /** Identifies the call in the place of its arguments. */
  readonly key?: readonly Json[] | undefined;
  readonly site: CallFacts['site'];
  readonly isSimulated?: boolean;
}

/** Completes the operation; its `llm` may replace `request`. */
type OwnParts = Pick<CallOperation, 'name' | 'group' | 'labels'> & {
  readonly params: readonly string[];
  readonly llm: Pick<LlmCall, 'labels' | 'definition' | 'options'> & Partial<LlmCall>;
};

type CallBody = (inner: Frame, inputs: readonly Value[], taken: TakenSample) => Promise<Value>;

interface CallResult {
  readonly value: Value;
  readonly json: Json;
  readonly isReused: boolean;
}

export interface SampledCall {
  readonly op: OpPath;
  /** Takes a sample when it is first needed. `sent` are the inputs that hooks left. */
  sample(sent: readonly Value[]): Promise<TakenSample>;
  request(sent: readonly Value[]): Promise<FormedCall>;
  /** Throws what the call failed with. With a result, the clock of the branch moves by the time that it took when it was executed. */
  perform(own: OwnParts, body: CallBody): Promise<CallResult>;
}

const KEY_DIGITS = 8;
/** The word that `replay/workflows/agent-calls.ts` reads in the place of the digits. */
const SECRET_DIGITS = 'secret';
const PREVIEW_UNITS = 80;

export function sampledCall(ports: Pick<AgentPorts, 'take' | 'elapsedOf'>, branch: Branch, called: CalledFunction): SampledCall {
  const { kind, fn, args, key: identity, site, isSimulated = false } = called;
  const { op: around, run, module } = branch.frame;
  const requestOf = (number: number, asked: readonly Json[]): CallRequest => ({ fn, args: asked, ...(number > 1 && { attempt: number }) });
  const keyOf = (number: number, asked: readonly Json[]): CallKey => callKey(requestOf(number, asked));
  const askedOf = (sent: readonly Value[]): readonly Json[] => identity ?? sent.map((input) => toJson(input));
  const digits = digitsOf(keyOf(1, identity ?? args));
  const segment = `${kind}~${run.secrets.contains(identity ?? args) ? SECRET_DIGITS : digits}`; // SAMPLED-2
  const ordinal = branch.nextOrdinal(segment); // SAMPLED-1
  const op = `${around.path}/${segment}#${ordinal}` as OpPath;
  const startedMs = run.monotonicMs();
  let taking: Promise<TakenSample> | undefined;

  async function sample(sent: readonly Value[]): Promise<TakenSample> {
    const asked = askedOf(sent);
    const hasSecret = sent.some(isSecret) || run.secrets.contains(asked);
    return (taking ??= ports.take({ op, digits, isSimulated, hasSecret, keyOf: (number) => keyOf(number, asked) }));
  }
  const request = async (sent: readonly Value[]): Promise<FormedCall> => {
    const { number } = await sample(sent);
    return { request: requestOf(number, askedOf(sent)) };
  };
  return {
    op,
    sample,
    request,
    async perform({ labels, params, llm, ...own }, body) {
      const call = { declared: fn, called: [fn], params, site, declaredAt: () => siteOf(module, 0), repeatable: false };
      // A prompt of an agent names the problem in the words of the dialect.
      const common = { fn, isCommand: false, sources: [], mentionsProblem: () => true, request };
      const operation = { ...own, kind, segment, ordinal, labels: ['llm', ...labels], inputs: args as readonly Data[], call };
      let isReused = !run.replayed;
      const outcome = await perform(branch.frame, { ...operation, llm: { ...common, ...llm } }, async (inner, inputs) => {
        if (run.replayed) return replayedResult(inner); // SAMPLED-3
        isReused = false;
        return body(inner, inputs, await sample(inputs));
      });
      const taken = await taking;
      branch.took((taken && ports.elapsedOf(taken.key)) ?? run.monotonicMs() - startedMs);
      const value = valueIn(outcome);
      const json = toJson(value);
      if (isSecret(value)) run.secrets.add(json as Data); // of a large one that is reused nothing is known yet
      return { value, json, isReused };
    },
  };
}

/** Ends a call as the record says. */
async function replayedResult({ op, run }: Frame): Promise<Value> {
  const recorded = run.replayed?.call(op.path);
  const end = await recorded?.completed?.();
  if (end?.result) return valueIn(decodeResult(end.result, run.settings.projectRoot));
  if (recorded?.failed) return new Promise(() => {}); // the failure of the record ends the call
  return recorded ? recorded.waitForGood() : null;
}

/** The first digits of a key, without the name of the digest. */
export function digitsOf(key: CallKey): string {
  return key.slice(key.indexOf(':') + 1).slice(0, KEY_DIGITS);
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
