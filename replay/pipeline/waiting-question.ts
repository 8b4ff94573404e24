/** Reads a question that waits for the answer of a person. */
import type { EventOf } from '../../journal/event.js';
import type { QuestionOption } from '../../journal/facts/pipeline-event.js';
import type { OpPath } from '../../journal/ids.js';
import { isObject } from '../../journal/json-object.js';

export interface WaitingQuestion {
  readonly id: string;
  readonly op: OpPath;
  readonly node: string;
  readonly text: string;
  readonly kind: EventOf<'question.asked'>['kind'];
  readonly options: EventOf<'question.asked'>['options'];
  readonly default: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly askedAt: string;
}

/** Keeps what can be read: whoever may record can write members of any type, and people are asked all the same. */
export function openQuestion(event: EventOf<'question.asked'>): WaitingQuestion {
  const { id, op, node, text, kind, options, timeoutMs, ts } = event;
  return {
    id,
    op,
    node: asText(node),
    text: asText(text),
    kind,
    options: optionsIn(options),
    default: event.default,
    timeoutMs,
    askedAt: ts,
  };
}

function optionsIn(options: unknown): readonly QuestionOption[] {
  if (!Array.isArray(options)) return [];
  return options.filter(isObject).flatMap(({ key, label, target }) => {
    if (typeof key !== 'string' || typeof label !== 'string') return [];
    return [{ key, label, target: typeof target === 'string' ? target : label }];
  });
}

function asText(member: unknown): string {
  return typeof member === 'string' ? member : (JSON.stringify(member) ?? '');
}
