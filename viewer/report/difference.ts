/** Shows how the other run differs: both in numbers, then call by call. */
import type { DiffCall, DiffSide, RunDiff } from '../../replay/reports/diff/diff-run.js';
import { duration, moneyOrDash } from '../../cli/render/units.js';
import { element, section, table } from '../shared/dom.js';

const CALLS_MAX = 500;

export function difference(diff: RunDiff): HTMLElement {
  const { left, right, calls, sources, output, files } = diff;
  const row = (title: string, of: (side: DiffSide) => string | number): (string | number)[] => [title, of(left), of(right)];
  const sides = table(
    ['', left.run, right.run],
    [
      row('status', ({ status }) => status),
      row('calls', ({ calls }) => calls),
      row('executed', ({ executed }) => executed),
      row('reused', ({ reused }) => reused),
      row('failed', ({ failed }) => failed),
      row('took', ({ durationMs }) => duration(durationMs)),
      row('cost', ({ costUsd }) => moneyOrDash(costUsd)),
    ],
  );
  const name = ({ fn, preview }: DiffCall): string => `@${fn} ${preview ?? ''}`;
  const changed = calls.changed.slice(0, CALLS_MAX).map((pair) => {
    const texts = [...(pair.arguments ?? []).map(({ lines }) => lines), ...(pair.result ? [pair.result] : [])];
    const shown = element(
      'details',
      {},
      element('summary', {}, `${name(pair.right)}: ${pair.changes.join(', ')} changed`),
      element('code', {}, pair.right.op),
    );
    for (const lines of texts) shown.append(linesOf(lines));
    return shown;
  });
  const only = (title: string, list: readonly DiffCall[]): HTMLElement[] =>
    list.length === 0
      ? []
      : [
          element('h3', {}, `${title}: ${list.length}`),
          table(
            ['function', 'operation', 'outcome'],
            list.slice(0, CALLS_MAX).map((call) => [name(call), call.op, call.outcome]),
          ),
        ];
  return section(
    'Difference',
    sides,
    element('p', {}, `${calls.same} calls are the same, ${calls.moved} of them at another place; ${calls.changed.length} changed.`),
    ...changed,
    ...only(`Only in ${left.run}`, calls.onlyLeft),
    ...only(`Only in ${right.run}`, calls.onlyRight),
    ...sources.map(({ path, lines }) => element('details', {}, element('summary', {}, `source ${path} changed`), linesOf(lines))),
    ...(output.same ? [] : [element('details', {}, element('summary', {}, 'output changed'), linesOf(output.lines))]),
    ...files.map(({ path }) => element('p', {}, `file ${path} differs`)),
  );
}

function linesOf(lines: RunDiff['output']['lines']): HTMLElement {
  const pre = element('pre', { tabindex: '0' });
  for (const line of lines) {
    pre.append(element('span', { class: line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '' }, `${line}\n`));
  }
  return pre;
}
