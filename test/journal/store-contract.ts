/** The contract of every store. */
import { describe, expect, it } from 'vitest';
import { INLINE_MAX, TEXT_BYTES_MAX } from '../../journal/payloads.js';
import { sha256 } from '../../journal/canonical.js';
import { runIdAt, workflowOf } from '../../journal/ids.js';
import type { Fact, Json, Payload } from '../../journal/event.js';
import type { OwnFact } from '../../journal/own-fact.js';
import type { JournalStore } from '../../journal/store.js';
import { callCompleted, callStarted, finished, opStarted, runRef, smallRun, started, workflow } from './support/facts.js';
import { conversation } from './packs/related-texts.js';
import { factOf, readRun } from './support/read.js';

/** Holds for a text of 17 MB. It is a contract of its own, because a store in the process may take a minute for it. */
export function largeTextContract(name: string, open: () => JournalStore): void {
  describe(`${name} store with large texts`, () => {
    it('returns a text that is too large for JSON as it was, and stores it unchanged', { timeout: 240_000 }, async () => {
      const store = open();
      const text = `${'x'.repeat(1024 * 1024 - 1)}🚢`.repeat(17); // a character on each border of a piece
      const payload = await store.payload(text);
      expect(payload).toEqual({ blob: sha256(text), bytes: Buffer.byteLength(text), text: true });
      expect((await store.resolve(payload)) === text).toBe(true);
      if (store.immediate) expect(store.immediate.resolve(payload) === text).toBe(true);
      const broken = `${text}\ud83d`;
      const asJson = await store.payload(broken); // UTF-8 can't say half a character
      expect(asJson).not.toHaveProperty('text');
      expect((await store.resolve(asJson)) === broken).toBe(true);
    });
  });
}

/** Everything else that holds for each store. */
export function journalStoreContract(name: string, open: () => JournalStore): void {
  describe(`${name} store`, () => {
    it('returns what was recorded, in order and numbered without gaps', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      for (const fact of smallRun) await journal.append(fact);
      await journal.close();
      const { events, defects, report } = await readRun(store, runRef(1));
      expect(events.map(factOf)).toEqual(smallRun);
      expect(events.map((event) => event.seq)).toEqual(smallRun.map((_, i) => i));
      expect(defects).toEqual([]);
      expect(report).toMatchObject({ events: smallRun.length, defects: 0, end: { seq: smallRun.length - 1, hash: events.at(-1)?.hash } });
    });

    it('keeps posted facts before those appended after them', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      const recorded = [
        journal.post(started),
        journal.post(opStarted(1)),
        await journal.append(callCompleted(1)),
        journal.post(opStarted(2)),
      ];
      await journal.flush();
      const { events } = await readRun(store, runRef(1));
      expect(recorded.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
      expect(events.map(factOf)).toEqual([started, opStarted(1), callCompleted(1), opStarted(2)]);
      await journal.close();
    });

    it('records a fact that is frozen, and says everything that makes it an event', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      const facts = [Object.freeze({ ...started }), Object.freeze(callCompleted(1)), Object.freeze({ ...finished })];
      const recorded = [journal.post(facts[0]!), await journal.append(facts[1]!), journal.post(facts[2]!)];
      await journal.close();
      const { events } = await readRun(store, runRef(1));
      expect(events).toEqual(recorded.map(({ seq, ts, hash }, i) => ({ v: 1, ...facts[i], seq, ts, hash })));
    });

    it('says where each event lies, and reads it again from there', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      const recorded = smallRun.map((fact) => journal.post(fact));
      await journal.close();
      const { events, positions } = await readRun(store, runRef(1));
      expect(recorded.map(({ position }) => position)).toEqual(positions);
      for (const [i, position] of positions.entries()) expect(await store.readAt(runRef(1), position)).toEqual(events[i]);
    });

    it('returns nothing for a place where no event begins', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      const { position } = await journal.append(started);
      await journal.close();
      expect(await store.readAt(runRef(1), { offset: position.offset + 1, bytes: position.bytes })).toBeUndefined();
      expect(await store.readAt(runRef(1), { offset: position.bytes + 1, bytes: 10 })).toBeUndefined();
      expect(await store.readAt(runRef(2), position)).toBeUndefined();
    });

    it('continues where an earlier scan ended', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      await journal.append(started);
      await journal.append(callCompleted(1));
      const first = await readRun(store, runRef(1));
      await journal.append(callCompleted(2));
      await journal.append(finished);
      const second = await readRun(store, runRef(1), { from: first.report.end });
      expect(second.events.map(factOf)).toEqual([callCompleted(2), finished]);
      expect(second.defects).toEqual([]);
      expect((await readRun(store, runRef(1), { from: second.report.end })).report).toEqual({
        events: 0,
        defects: 0,
        end: second.report.end,
      });
      await journal.close();
    });

    it('reads a run in parts', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      for (const fact of smallRun) await journal.append(fact);
      await journal.close();
      const { events } = await readRun(store, runRef(1));
      const read = [];
      for (let part = await readRun(store, runRef(1), { eventsMax: 2 }); part.events.length > 0;) {
        expect(part.report.events).toBeLessThanOrEqual(2);
        expect(part.defects).toEqual([]);
        read.push(...part.events);
        part = await readRun(store, runRef(1), { eventsMax: 2, from: part.report.end });
      }
      expect(read).toEqual(events);
    });

    it('refuses a second run of the same id with an error that says so', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      await expect(store.create(runRef(1))).rejects.toMatchObject({ name: 'JournalError', code: 'JOURNAL_RUN_EXISTS' });
      await journal.append(started);
      await journal.close();
      await expect(store.create(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_RUN_EXISTS' });
      expect((await readRun(store, runRef(1))).events).toHaveLength(1);
    });

    it('lists workflows and their runs, oldest first, and finds a run by its id', async () => {
      const store = open();
      const other = workflowOf('Other/Ünusual name%.mld');
      expect(await store.workflows()).toEqual([]);
      expect(await store.runs(workflow)).toEqual([]);
      for (const ref of [runRef(3), runRef(1), runRef(2), runRef(9, other)]) await (await store.create(ref)).close();
      expect(await store.workflows()).toEqual([other, workflow]);
      expect((await store.runs(workflow)).map(({ ref }) => ref)).toEqual([runRef(1), runRef(2), runRef(3)]);
      expect(await store.find(runRef(9).run)).toEqual(runRef(9, other));
      expect(await store.find(runIdAt(0, 'aaaa'))).toBeUndefined();
    });

    it('tells a finished run from one that is being written and one that was given up', async () => {
      const store = open();
      const [done, alive, crashed] = await Promise.all([store.create(runRef(1)), store.create(runRef(2)), store.create(runRef(3))]);
      for (const journal of [done, alive, crashed]) await journal.append(started);
      await done.append(finished);
      await done.close();
      await crashed.append(callStarted(1));
      await crashed.close();
      const runs = await store.runs(workflow);
      expect(runs.map(({ liveness }) => liveness)).toEqual(['finished', 'running', 'crashed']);
      expect(runs[0]?.finished).toMatchObject({ ...finished, seq: 1 });
      for (const run of runs) expect(run.bytes).toBe((await readRun(store, run.ref)).report.end.offset);
      await alive.close();
    });

    it('has no events for a run that does not exist', async () => {
      expect((await readRun(open(), runRef(1))).events).toEqual([]);
    });

    it('keeps facts of an embedding program in the chain, in the order of the calls', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      const own: OwnFact = { type: 'app.saver.checkpoint', data: { inline: { step: 1 } } };
      journal.post(started);
      for (const durability of ['ordered', 'written', 'synced'] as const) await journal.appendOwn(own, durability);
      await journal.append(finished);
      await journal.close();
      const { events, defects } = await readRun(store, runRef(1));
      expect(events.map(factOf)).toEqual([started, own, own, own, finished]);
      expect(defects).toEqual([]);
      await expect(journal.appendOwn(own, 'ordered')).rejects.toThrow('closed');
    });

    it('continues a run that has no writer, behind its last event', async () => {
      const store = open();
      const first = await store.create(runRef(1));
      await first.append(started);
      await first.close();
      for (const n of [1, 2]) {
        const again = await store.reopen(runRef(1));
        expect((await store.runs(workflow))[0]?.liveness).toBe('running');
        expect(await again.append(callStarted(n))).toMatchObject({ seq: n });
        await again.close();
        expect((await store.runs(workflow))[0]?.liveness).toBe('crashed');
      }
      await expect(first.append(finished)).rejects.toThrow('closed');
      const last = await store.reopen(runRef(1));
      await last.append(finished);
      await last.close();
      const { events, defects } = await readRun(store, runRef(1));
      expect(events.map(factOf)).toEqual([started, callStarted(1), callStarted(2), finished]);
      expect(defects).toEqual([]);
      expect((await store.runs(workflow)).map(({ liveness }) => liveness)).toEqual(['finished']);
    });

    it('continues a run that was given up before its first event', async () => {
      const store = open();
      await (await store.create(runRef(1))).close();
      const again = await store.reopen(runRef(1));
      expect(await again.append(started)).toMatchObject({ seq: 0 });
      await again.close();
    });

    it('continues and deletes no run that is not there or has a writer, and continues none that has ended', async () => {
      const store = open();
      await expect(store.reopen(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_RUN_UNKNOWN' });
      await expect(store.deleteRun(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_RUN_UNKNOWN' });
      expect(await store.workflows()).toEqual([]);
      const journal = await store.create(runRef(1));
      await journal.append(started);
      await expect(store.reopen(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_RUN_IN_USE' });
      await expect(store.deleteRun(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_RUN_IN_USE' });
      await journal.append(finished);
      await journal.close();
      await expect(store.reopen(runRef(1))).rejects.toMatchObject({ code: 'JOURNAL_RUN_FINISHED' });
      expect((await readRun(store, runRef(1))).events).toHaveLength(2);
    });

    it('lets one of two callers continue a run', async () => {
      const store = open();
      await (await store.create(runRef(1))).close();
      const tries = await Promise.allSettled([store.reopen(runRef(1)), store.reopen(runRef(1))]);
      expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      for (const tried of tries) if (tried.status === 'fulfilled') await tried.value.close();
    });

    it('deletes a run, and no other', async () => {
      const store = open();
      for (const n of [1, 2]) {
        const journal = await store.create(runRef(n));
        await journal.append(started);
        await journal.close();
      }
      await store.deleteRun(runRef(1));
      expect((await store.runs(workflow)).map(({ ref }) => ref)).toEqual([runRef(2)]);
      expect((await readRun(store, runRef(1))).events).toEqual([]);
      expect(await store.find(runRef(1).run)).toBeUndefined();
      expect((await readRun(store, runRef(2))).events).toHaveLength(1);
    });

    it('refuses to record anything once a run is closed', async () => {
      const journal = await open().create(runRef(1));
      await journal.close();
      await expect(journal.append(started)).rejects.toThrow('closed');
      await expect(journal.close()).resolves.toBeUndefined();
    });

    it('acknowledges what came before it was closed, and refuses what comes after', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      const before = Array.from({ length: 30 }, (_, n) => journal.append(callCompleted(n)));
      const chained = before.map((append) => append.then(() => journal.append(finished)).catch((error: Error) => error.message));
      const closed = journal.close();
      await expect(Promise.all(before)).resolves.toHaveLength(30);
      for (const message of await Promise.all(chained)) expect(message).toContain('closed');
      await closed;
      expect((await readRun(store, runRef(1))).events).toHaveLength(30);
    });

    it('refuses a fact that JSON cannot hold, and continues', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      await expect(journal.append(callCompleted(1, 1n as unknown as Json))).rejects.toMatchObject({ code: 'NOT_JSON' });
      expect((await journal.append(started)).seq).toBe(0);
      await journal.close();
      expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started]);
    });

    it('loses of a posted fact that JSON cannot hold that fact alone, and says so at the end', async () => {
      const store = open();
      const told: unknown[] = [];
      const journal = await store.create(runRef(1), { onLost: (error) => told.push(error) });
      await journal.append(started);
      journal.post(callCompleted(1, 1n as unknown as Json));
      await expect(journal.append(callCompleted(2, 1n as unknown as Json))).rejects.toMatchObject({
        name: 'JournalError',
        code: 'NOT_JSON',
      });
      await journal.append(finished);
      await journal.close();
      expect(told).toMatchObject([{ name: 'JournalError', code: 'NOT_JSON' }]);
      expect((await readRun(store, runRef(1))).events.map(factOf)).toEqual([started, { ...finished, lost: 2 }]);
    });

    it.each<[string, Json, 'inline' | 'blob']>([
      ['null', null, 'inline'],
      ['text up to the threshold', 'x'.repeat(INLINE_MAX - 2), 'inline'],
      ['text above the threshold', '船'.repeat(INLINE_MAX - 1), 'blob'],
      ['the zero below zero, which a line has no form for', { n: [-0, 0] }, 'blob'],
      ['many small things', Array.from({ length: INLINE_MAX / 4 }, (_, n) => ({ n })), 'blob'],
    ])('gives back a payload: %s', async (_title, value, form) => {
      const store = open();
      const payload = await store.payload(value);
      expect(form in payload).toBe(true);
      expect(await store.resolve(payload)).toEqual(value);
    });

    it('refuses a payload that JSON cannot hold, and says where', async () => {
      await expect((async () => open().payload({ answers: [{ price: NaN }] }))()).rejects.toMatchObject({
        code: 'NOT_JSON',
        message: expect.stringContaining('answers.0.price'),
      });
    });

    it.each<Payload>([
      { sealed: 'abc', keyId: 'k' },
      { digest: 'abc' },
      { redacted: 'asked to' },
      { blob: sha256('never stored'), bytes: 12 },
    ])('has no value for a payload that is not there: %j', async (payload) => expect(await open().resolve(payload)).toBeUndefined());

    it('does not read a text that is larger than a text can be', async () => {
      const store = open();
      const { blob } = await store.putBlob('as if it were large');
      const payload: Payload = { blob, bytes: TEXT_BYTES_MAX + 1, text: true };
      expect(await store.resolve(payload)).toBeUndefined();
      expect(store.immediate?.resolve(payload)).toBeUndefined();
    });

    it('keeps a blob that came in pieces, or nothing of it', async () => {
      const store = open();
      await (await store.create(runRef(1))).close();
      for (const end of ['keep', 'discard'] as const) {
        const writer = store.newBlob();
        writer.write(Buffer.from('one '));
        writer.write(Buffer.from(end));
        expect((await writer.read()).toString()).toBe(`one ${end}`);
        await writer[end]();
      }
      expect(Buffer.from((await store.getBlob(sha256('one keep'))) as Uint8Array).toString()).toBe('one keep');
      expect(await store.getBlob(sha256('one discard'))).toBeUndefined();
    });

    it('returns each of many texts that have parts in common, under its own digest', async () => {
      const store = open();
      const texts = conversation('contract', 8, 30_000, 1000).flatMap((text) => [text, `é${text.slice(0, -500)}`, text.slice(500)]);
      const stored = await Promise.all(texts.map((text) => store.packBlob(text)));
      for (const [n, text] of texts.entries()) {
        expect(stored[n]).toEqual({ blob: sha256(text), bytes: Buffer.byteLength(text) });
        expect(Buffer.from((await store.getBlob(sha256(text))) as Uint8Array).toString() === text).toBe(true);
      }
      expect(await store.packBlob(texts[3] as string)).toEqual(stored[3]);
      expect(await store.getBlob(sha256('never stored'))).toBeUndefined();
    });

    it('gives back payloads that grow, at once and later, and names them in lines of version 2', async () => {
      const store = open();
      const journal = await store.create(runRef(1));
      const values = conversation('payload', 5).map((text) => ({ messages: [text] }));
      for (const [n, value] of values.entries()) await journal.append({ ...callCompleted(n), result: await store.payload(value) } as Fact);
      await journal.append(finished);
      await journal.close();
      const { events } = await readRun(store, runRef(1));
      for (const [n, value] of values.entries()) {
        const event = events[n];
        if (event?.type !== 'call.completed') throw new Error('not a result');
        expect(event).toMatchObject({ v: 2, result: { blob: sha256(JSON.stringify(value)) } });
        expect(await store.resolve(event.result)).toEqual(value);
        if (store.immediate) expect(store.immediate.resolve(event.result)).toEqual(value);
      }
      expect(events.at(-1)).toMatchObject({ v: 1 });
    });

    it('names blobs by their digest', async () => {
      const store = open();
      const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 251);
      const [first, second] = await Promise.all([store.putBlob(bytes), store.putBlob(bytes)]);
      expect(first).toEqual({ blob: sha256(bytes), bytes: 70_000 });
      expect(second).toEqual(first);
      expect(Buffer.compare((await store.getBlob(first.blob)) as Uint8Array, bytes)).toBe(0);
      const empty = await store.putBlob('');
      expect(await store.getBlob(empty.blob)).toHaveLength(0);
      expect(await store.getBlob(sha256('something else'))).toBeUndefined();
    });

    it('keeps something aside of a workflow and replaces it as a whole', async () => {
      const store = open();
      expect(await store.readDerived(workflow, 'index')).toBeUndefined();
      await store.writeDerived(workflow, 'index', 'one');
      await store.writeDerived(workflow, 'index', Buffer.from('two'));
      expect(Buffer.from((await store.readDerived(workflow, 'index')) as Uint8Array).toString()).toBe('two');
      expect(await store.readDerived(workflowOf('other.mld'), 'index')).toBeUndefined();
      expect(await store.runs(workflow)).toEqual([]);
    });

    it('replaces something aside of a workflow only where nothing else is there', async () => {
      const store = open();
      const replace = (content: string, beginning?: string): Promise<boolean> =>
        store.replaceDerived(workflow, 'index', content, beginning);
      const content = async (): Promise<string> => Buffer.from((await store.readDerived(workflow, 'index'))!).toString();
      expect(await replace('one\na')).toBe(true);
      expect(await replace('two\nb')).toBe(false);
      expect(await replace('two\nb', 'two\n')).toBe(false);
      expect(await content()).toBe('one\na');
      expect(await replace('two\nb', 'one\n')).toBe(true);
      expect(await content()).toBe('two\nb');
      await store.writeDerived(workflow, 'index', '');
      expect(await replace('three\nc', 'two\n')).toBe(false);
    });

    it('gives the lock to one caller after the other, each workflow its own', async () => {
      const store = open();
      const log: string[] = [];
      const inTurn = async (name: string): Promise<void> => {
        const end = await store.acquireWorkflowLock(workflow);
        log.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 30));
        log.push(`${name} ends`);
        await end();
        await end(); // does nothing, also when another caller holds it now
      };
      await Promise.all(['a', 'b', 'c'].map(inTurn));
      for (const [i, line] of log.entries()) expect(line).toBe(i % 2 === 0 ? `${line[0]} begins` : `${log[i - 1]?.[0]} ends`);
      expect(log).toHaveLength(6);
      const end = await store.acquireWorkflowLock(workflow);
      await (
        await store.acquireWorkflowLock(workflowOf('other.mld'))
      )();
      await end();
    });

    it('writes two runs at once without mixing them', async () => {
      const store = open();
      const journals = [await store.create(runRef(1)), await store.create(runRef(2))] as const;
      await Promise.all(Array.from({ length: 200 }, (_, i) => journals[i % 2 === 0 ? 0 : 1].append(callCompleted(i))));
      for (const journal of journals) await journal.close();
      for (const [k, ref] of [runRef(1), runRef(2)].entries()) {
        const { events, defects } = await readRun(store, ref);
        expect(defects).toEqual([]);
        expect(events.map(factOf)).toEqual(Array.from({ length: 100 }, (_, i) => callCompleted(i * 2 + k)));
      }
    });
  });
}
