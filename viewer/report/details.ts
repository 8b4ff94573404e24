/** Shows one operation: arguments, result, cost, events. */
import { duration, money } from '../../cli/render/units.js';
import { element } from '../shared/dom.js';
import type { Model } from './model.js';

export function details(model: Model, span: number): HTMLElement {
  const { spans } = model.data;
  const recorded = model.detailsOf(span);
  const message = spans.message[span] ?? '';
  const facts = [
    `${model.stateOf(span)} · ${spans.kind[span]} · ${duration((spans.end[span] as number) - (spans.start[span] as number))}`,
    ...(recorded?.site ? [recorded.site] : []),
  ];
  const root = element('div', {}, element('h3', {}, model.title(span)), element('p', {}, element('code', {}, spans.op[span] ?? '')));
  for (const fact of facts) root.append(element('p', {}, fact));
  if (message !== '') root.append(element('p', { class: 'message' }, message));
  for (const call of recorded?.calls ?? []) {
    const numbers = [
      `@${call.fn} ${call.outcome}`,
      ...(call.durationMs === null ? [] : [duration(call.durationMs)]),
      ...(call.costUsd === null ? [] : [money(call.costUsd)]),
      ...(call.inputTokens === null ? [] : [`${call.inputTokens} tokens in`]),
      ...(call.outputTokens === null ? [] : [`${call.outputTokens} out`]),
      ...(call.from === null ? [] : [`reused from ${call.from}`]),
    ];
    root.append(element('h4', {}, numbers.join(' · ')));
    if (call.args !== null) root.append(element('h5', {}, 'Arguments'), element('pre', { tabindex: '0' }, call.args));
    if (call.result !== null) root.append(element('h5', {}, 'Result'), element('pre', { tabindex: '0' }, call.result));
  }
  if (recorded && recorded.moments.length > 0)
    root.append(element('h5', {}, 'What happened'), element('ul', {}, ...recorded.moments.map((text) => element('li', {}, text))));
  return root;
}
