/** Groups what went wrong by cause, the reason first, and offers the commands that repair it. */
import { causeIn } from '../../../cli/render/causes.js';
import { duration, money } from '../../../cli/render/units.js';
import type { Model, PageData, SpanState } from '../model/page-model.js';
import { hashOf, hashOfCall, NO_FILTER } from '../model/route.js';
import { number } from '../model/verdict-words.js';
import { Command } from '../parts/text-block.js';

const GROUPS_SHOWN = 12;
/** The commands that repair a run come behind its most frequent causes, so that they are on the first screen however many there are. */
const FIRST_GROUPS = 3;

interface Group {
  readonly count: number;
  readonly reason: string;
  readonly what: string;
  readonly op: string;
  readonly state: SpanState;
  readonly fn: string;
}

/** `isFollowed`: the run goes on beside buttons that continue it, so that only failures are worth a place at the top. */
export function Failures({ model, isFollowed }: { readonly model: Model; readonly isFollowed: boolean }) {
  const { verdict, steps } = model.data;
  const groups = groupsOf(verdict);
  const { error } = verdict;
  const isSound = groups.length === 0 && error === undefined;
  const isStopped = verdict.status === 'interrupted';
  if (isSound && (isFollowed || steps.length === 0)) return null;
  return (
    <section class={isSound ? 'card' : `card trouble${isStopped ? ' interrupted' : ''}`} aria-labelledby="title-trouble">
      <h2 id="title-trouble">{isSound ? 'To continue' : isStopped ? 'Stopped before its end' : 'What went wrong'}</h2>
      {error !== undefined && (
        <div class="error">
          <p>
            <b>{error.message}</b> <code>{error.code}</code>
          </p>
          {error.place !== undefined && (
            <p class="muted">
              at {error.place}
              {error.source !== undefined && (
                <>
                  {' '}
                  <code>{error.source}</code>
                </>
              )}
            </p>
          )}
        </div>
      )}
      <Groups model={model} groups={groups.slice(0, FIRST_GROUPS)} />
      {steps.length > 0 && (
        <div class="repair">
          {!isSound && <h3>{repairWords(verdict)}</h3>}
          {steps.map(([command, does]) => (
            <Command key={command} command={command} does={does} />
          ))}
        </div>
      )}
      {groups.length > FIRST_GROUPS && <h3>Further causes</h3>}
      <Groups model={model} groups={groups.slice(FIRST_GROUPS, GROUPS_SHOWN)} />
      {groups.length > GROUPS_SHOWN && <p class="muted">and {groups.length - GROUPS_SHOWN} more kinds</p>}
    </section>
  );
}

function Groups({ model, groups }: { readonly model: Model; readonly groups: readonly Group[] }) {
  if (groups.length === 0) return null;
  return (
    <ul class="groups">
      {groups.map((group) => (
        <li key={`${group.what} ${group.reason}`}>
          <span class="count">{number(group.count)}×</span>
          <div>
            <p>{group.reason}</p>
            <p class="muted">
              {group.what}
              {model.spanAt(group.op) !== undefined && (
                <>
                  {' · '}
                  <a href={hashOfCall(group.op)}>{group.count === 1 ? 'look at it' : 'the first one'}</a>
                </>
              )}
              {group.count > 1 && group.fn !== '' && (
                <>
                  {' · '}
                  <a href={hashOf({ view: 'operations', filter: { ...NO_FILTER, fn: group.fn, state: group.state } })}>
                    all that {group.state === 'denied' ? 'were denied' : 'failed'} in @{group.fn}
                  </a>
                </>
              )}
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}

function groupsOf({ failures, denials, hookErrors }: PageData['verdict']): readonly Group[] {
  const groups: Group[] = [
    ...failures.map(({ cause, what, count, message, op }) => {
      const fn = /^[\w.]+$/.test(what) && what !== 'command' ? what : '';
      return {
        count,
        reason: message,
        what: causeIn(cause, fn === '' ? what : `@${fn}`),
        op,
        state: cause === 'denied' ? 'denied' : 'failed',
        fn,
      } as const;
    }),
    ...hookErrors.map(({ hook, timing, filter, error, count, op }) => ({
      count,
      reason: error,
      what: `error in the hook ${hook} ${timing} ${filter}`,
      op,
      state: 'failed' as const,
      fn: '',
    })),
  ];
  const known = new Set(groups.map(({ reason }) => reason));
  for (const { guard, timing, filter, reason = 'no reason given', count, op } of denials) {
    // A call that a guard denied has failed too, and is listed with its function.
    if (!known.has(reason))
      groups.push({ count, reason, what: `denied by the guard ${guard} ${timing} ${filter}`, op, state: 'denied', fn: '' });
  }
  return groups.sort((left, right) => right.count - left.count);
}

function repairWords({ resume, status }: PageData['verdict']): string {
  const calls = resume.unresolved + resume.notStarted;
  if (status === 'running' || calls === 0) return 'Continue';
  const measures = [
    ...(resume.durationMs === null ? [] : [`about ${duration(resume.durationMs)}`]),
    ...(resume.costUsd === null ? [] : [money(resume.costUsd)]),
  ];
  const estimate = measures.length === 0 ? '' : ` (${measures.join(', ')})`;
  return `Repair it: ${number(calls)} ${calls === 1 ? 'call' : 'calls'} to make${estimate}, ${number(resume.reused)} reused`;
}
