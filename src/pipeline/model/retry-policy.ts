/** Computes how often a stage is retried, and the delay before each retry. graph-pipelines.md 6.7. */
import { defaultMaxRetries, graphAttribute, nodeAttribute, type Graph, type GraphNode } from './graph.js';

interface Policy {
  /** Counts all executions, the first included. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly factor: number;
}

const PRESETS: { readonly [name: string]: Policy } = {
  none: { attempts: 1, firstMs: 200, factor: 2 },
  standard: { attempts: 5, firstMs: 200, factor: 2 },
  aggressive: { attempts: 5, firstMs: 500, factor: 2 },
  linear: { attempts: 3, firstMs: 500, factor: 1 },
  patient: { attempts: 3, firstMs: 2000, factor: 3 },
};
const DEFAULT = { firstMs: 200, factor: 2 };
const MAX_MS = 60_000;

/** The settings of node and graph; undefined where they set nothing. */
export interface RetrySettings {
  readonly maxRetries: number | undefined;
  readonly policy: string | undefined;
  readonly defaultMaxRetries: number | undefined;
  readonly defaultPolicy: string | undefined;
  readonly delayMs: number | undefined;
  readonly factor: number | undefined;
  readonly maxDelayMs: number | undefined;
  readonly jitter: boolean | undefined;
}

export interface RetrySchedule {
  /** The retries of one visit. */
  readonly budget: number;
  /** False where nothing sets a budget: then the failures of model calls have the attempts of calls.md 3. */
  readonly isSet: boolean;
  /** Returns the delay before retry `n`, counted from 1, in whole milliseconds; `random` returns numbers in [0, 1). */
  delayMs(n: number, random: () => number): number;
}

/** Returns the schedule of a node's visits. */
export function retriesOfNode(graph: Graph, node: GraphNode): RetrySchedule {
  return retryScheduleFor({
    maxRetries: nodeAttribute(node, 'max_retries'),
    policy: nodeAttribute(node, 'retry_policy'),
    defaultMaxRetries: defaultMaxRetries(graph),
    defaultPolicy: graphAttribute(graph, 'default_retry_policy'),
    delayMs: nodeAttribute(node, 'retry_delay'),
    factor: nodeAttribute(node, 'retry_factor'),
    maxDelayMs: nodeAttribute(node, 'retry_max_delay'),
    jitter: nodeAttribute(node, 'retry_jitter'),
  });
}

export function retryScheduleFor(settings: RetrySettings): RetrySchedule {
  const own = presetOf(settings.policy);
  const graphs = presetOf(settings.defaultPolicy);
  const { firstMs, factor } = own ?? graphs ?? DEFAULT;
  const first = settings.delayMs ?? firstMs;
  const growth = settings.factor ?? factor;
  const max = settings.maxDelayMs ?? MAX_MS;
  const budget = settings.maxRetries ?? retriesOf(own) ?? settings.defaultMaxRetries ?? retriesOf(graphs);
  return {
    budget: budget ?? 0,
    isSet: budget !== undefined,
    delayMs(n, random) {
      const delay = Math.min(first * growth ** (n - 1), max);
      return Math.round((settings.jitter ?? true) ? delay * (0.5 + random()) : delay);
    },
  };
}

function presetOf(name: string | undefined): Policy | undefined {
  return name !== undefined && Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
}

function retriesOf(policy: Policy | undefined): number | undefined {
  return policy && policy.attempts - 1;
}
