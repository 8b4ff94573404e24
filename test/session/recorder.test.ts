import { expect, it } from 'vitest';
import type { Fact, JournalEvent } from '../../journal/event.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import { createRecorder } from '../../src/session/ports/recorder.js';
import { callCompleted, opStarted, runRef, started } from '../journal/support/facts.js';
import { readRun } from '../journal/support/read.js';

it('shows followers each event as the journal has it, and leaves the facts as the caller made them', async () => {
  const store = openMemoryStore();
  const followed: JournalEvent[] = [];
  const errors: Error[] = [];
  const recorder = createRecorder(await store.create(runRef(1)), {
    secrets: new SecretRegistry(),
    followers: [(event) => void followed.push(event)],
    count: () => expect.fail('followed, and counted'),
    onTrouble: (error) => errors.push(error),
  });
  const facts: readonly Fact[] = [started, opStarted(1), callCompleted(1)].map((fact) => Object.freeze({ ...fact }));
  for (const [i, fact] of facts.entries()) {
    if (i === 1) recorder.post(fact);
    else await recorder.append(fact);
  }
  expect(await recorder.close()).toBe('kept');
  const { events } = await readRun(store, runRef(1));
  expect(followed).toEqual(events);
  expect(errors).toEqual([]);
  expect(facts).toEqual([started, opStarted(1), callCompleted(1)]);
});

it('RECORDER-3: hides secrets in the facts about lanes, whose names may be made of arguments', async () => {
  const store = openMemoryStore();
  const secrets = new SecretRegistry();
  secrets.add('tok-1234567890');
  const recorder = createRecorder(await store.create(runRef(1)), {
    secrets,
    followers: [],
    count: () => undefined,
    onTrouble: (error) => expect.fail(error.message),
  });
  const lane = 'claude/tok-1234567890';
  await recorder.append(started);
  recorder.post({ type: 'lane.changed', lane, limit: 4, why: 'began' });
  recorder.post({ type: 'dispatch.stopped', class: 'quota', lane, message: 'tok-1234567890 is used up' });
  recorder.post({ type: 'dispatch.resumed', lane });
  await recorder.close();
  const { events } = await readRun(store, runRef(1));
  expect(events).toMatchObject([
    started,
    { lane: 'claude/[secret]', limit: 4 },
    { lane: 'claude/[secret]', message: '[secret] is used up' },
    { lane: 'claude/[secret]' },
  ]);
});
