/** Groups what went wrong by cause, the reason first, and offers the commands that repair it. */
import { CAUSES, causeIn, messageBehind } from '../../../cli/render/causes.js';
import { duration, money } from '../../../cli/render/units.js';
import type { Model, PageData, SpanState } from '../model/page-model.js';
import { hashOf, hashOfCall, NO_FILTER } from '../model/route.js';
import { number, troubleOf } from '../model/verdict-words.js';
import { Command } from '../parts/text-block.js';

const GROUPS_SHOWN = 12;
/** The commands that repair a run come behind its most frequent causes, so that they are on the first screen however many there are. */
const FIRST_GROUPS = 3;

interface Group {
  readonly count: number;
  readonly reason: string;
  /** Words the cause of a group of several parts. */
  readonly cause: string;
  /** One for each function or kind of operation, the most frequent first. */
  readonly parts: readonly Part[];
}

interface Part {
  readonly count: number;
  readonly what: string;
  readonly op: string;
  readonly state: SpanState;
  /** Empty where it is no function. */
  readonly fn: string;
}

/** `isFollowed`: the run goes on beside buttons that continue it, so that only failures are worth a place at the top. */
export function Failures({ model, isFollowed }: { readonly model: Model; readonly isFollowed: boolean }) {
  const { verdict, steps } = model.data;
  const groups = groupsOf(verdict);
  const { error } = verdict;
  const isSound = groups.length === 0 && error === undefined;
  const trouble = troubleOf(verdict);
  if (isSound && (isFollowed || steps.length === 0)) return null;
  return (
    <section class={isSound ? 'card' : `card trouble${trouble.isCalm ? ' calm' : ''}`} aria-labelledby="title-trouble">
      <h2 id="title-trouble">{isSound ? 'To continue' : trouble.title}</h2>
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
      {groups.map(({ count, reason, cause, parts }) => (
        <li key={`${cause} ${parts[0]?.what} ${reason}`}>
          <span class="count">{number(count)}×</span>
          <div>
            <p>{reason}</p>
            <p class="muted">
              {parts.length === 1 ? <Only part={parts[0] as Part} model={model} /> : <Several cause={cause} parts={parts} />}
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}

function Only({ part: { count, what, op, state, fn }, model }: { readonly part: Part; readonly model: Model }) {
  return (
    <>
      {what}
      {model.spanAt(op) !== undefined && (
        <>
          {' · '}
          <a href={hashOfCall(op)}>{count === 1 ? 'look at it' : 'the first one'}</a>
        </>
      )}
      {count > 1 && fn !== '' && (
        <>
          {' · '}
          <a href={hashOfAll(fn, state)}>
            all that {state === 'denied' ? 'were denied' : 'failed'} in @{fn}
          </a>
        </>
      )}
    </>
  );
}

function Several({ cause, parts }: { readonly cause: string; readonly parts: readonly Part[] }) {
  return (
    <>
      {cause}
      {parts.map(({ count, what, op, state, fn }) => (
        <>
          {' · '}
          <a href={count === 1 || fn === '' ? hashOfCall(op) : hashOfAll(fn, state)}>
            {number(count)} in {fn === '' ? what : `@${fn}`}
          </a>
        </>
      ))}
    </>
  );
}

function hashOfAll(fn: string, state: SpanState): string {
  return hashOf({ view: 'operations', filter: { ...NO_FILTER, fn, state } });
}

function groupsOf({ failures, denials, hookErrors }: PageData['verdict']): readonly Group[] {
  const groups = [...groupsOfCalls(failures)];
  for (const { hook, timing, filter, error, count, op } of hookErrors) {
    const what = `error in the hook ${hook} ${timing} ${filter}`;
    groups.push({ count, reason: error, cause: what, parts: [{ count, what, op, state: 'failed', fn: '' }] });
  }
  const known = new Set(groups.map(({ reason }) => reason));
  for (const { guard, timing, filter, reason = 'no reason given', count, op } of denials) {
    // A call that a guard denied has failed too, and is listed with its function.
    if (known.has(reason)) continue;
    const what = `denied by the guard ${guard} ${timing} ${filter}`;
    groups.push({ count, reason, cause: what, parts: [{ count, what, op, state: 'denied', fn: '' }] });
  }
  return groups.sort((left, right) => right.count - left.count);
}

/** Failures of one cause with the same message are one group, whatever function they are of. */
function groupsOfCalls(failures: PageData['verdict']['failures']): Iterable<Group> {
  const groups = new Map<string, Group & { count: number; readonly parts: Part[] }>();
  for (const { cause, what, count, message, op } of failures) {
    const fn = /^[\w.]+$/.test(what) && what !== 'command' ? what : '';
    const state = cause === 'denied' ? 'denied' : 'failed';
    const part = { count, what: causeIn(cause, fn === '' ? what : `@${fn}`), op, state, fn } as const;
    const name = JSON.stringify([cause, message]);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { count, reason: messageBehind(cause, message), cause: CAUSES[cause], parts: [part] });
    else {
      group.count += count;
      group.parts.push(part);
    }
  }
  return groups.values();
}

function repairWords({ resume, status }: PageData['verdict']): string {
  const calls = resume.unresolved + resume.notStarted;
  if (status === 'running' || calls === 0) return 'Continue';
  const measures = [
    ...(resume.durationMs === null ? [] : [`about ${duration(resume.durationMs)}`]),
    ...(resume.costUsd === null
      ? resume.unpriced === 0
        ? []
        : ['cost unknown']
      : [money(resume.costUsd), ...(resume.unpriced === 0 ? [] : [`${number(resume.unpriced)} of unknown cost`])]),
  ];
  const estimate = measures.length === 0 ? '' : ` (${measures.join(', ')})`;
  return `Repair it: ${resume.isPart ? 'at least ' : ''}${number(calls)} ${calls === 1 ? 'call' : 'calls'} to make${estimate}, ${number(resume.reused)} reused`;
}
