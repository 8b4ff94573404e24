/** The data of a page: whole texts of reused calls, models, and texts that fit. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { cutTo, sharedLimit } from '../../../replay/reports/timeline/shown-texts.js';
import { openPage } from '../../../src/api/reports/page.js';
import { projectFolder } from '../../support/cli.js';
import { runRef } from '../../support/written-runs.js';
import { recordTriage, TRIAGE } from '../../viewer/sample-runs.js';

describe('the data of a page', () => {
  it('has arguments and result of a reused call from the run that recorded them', async () => {
    const store = openFileStore(await projectFolder());
    const ref = await recordTriage(store, { calls: 60, reused: 30 });
    const read = async () => {
      const { data, details } = await openPage(store, ref);
      const place = data.report.spans.op.indexOf('main/for#1[0]/review#0');
      return details[place]?.calls[0];
    };
    expect(await read()).toMatchObject({
      outcome: 'reused',
      from: { run: runRef(1, TRIAGE).run, op: 'main/for#1[0]/review#0' },
      args: [{ text: expect.stringContaining('Ticket 0000') }, { text: expect.stringContaining('"mood"') }],
      result: { text: expect.stringContaining('"urgency"'), more: 0 },
    });
    await store.deleteRun(runRef(1, TRIAGE));
    expect(await read()).toMatchObject({
      from: { op: null },
      args: [{ missing: 'its run is gone' }],
      result: { missing: 'its run is gone' },
    });
  });

  it('has tokens and cost by model, the script and the places in it, and what the run wrote', async () => {
    const store = openFileStore(await projectFolder());
    const { data } = await openPage(store, await recordTriage(store, { calls: 60, reused: 0 }));
    const { models, total, sites } = data.report;
    expect(data.verdict).toMatchObject({ status: 'completed', resume: { isPart: true } });
    expect(models.map(({ name }) => name)).toContain('claude-sonnet-4-5');
    expect(models.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)).toBeCloseTo(total.costUsd ?? 0, 9);
    expect(data.sources).toMatchObject([{ path: TRIAGE, role: 'script', text: { text: expect.stringContaining('@extract') } }]);
    expect(sites.map((site, number) => [site, data.places[number]])).toContainEqual([`${TRIAGE}:15:61`, [0, 15]]);
    expect(data.output.text).toBe('60 tickets are in order\n');
  });
});

describe('the shared limit of texts', () => {
  it('lets texts take the room that there is, and no more', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000)), fc.nat(5000), (lengths, total) => {
        const limit = sharedLimit(lengths, total);
        const taken = lengths.reduce((sum, length) => sum + Math.min(length, limit), 0);
        const all = lengths.reduce((sum, length) => sum + length, 0);
        expect(taken).toBeLessThanOrEqual(total);
        if (all <= total) expect(taken).toBe(all);
        else expect(taken).toBeGreaterThan(total - lengths.length);
      }),
    );
  });

  it('counts what is cut, and cuts no character in half', () => {
    expect(cutTo({ text: 'tide', more: 2 }, 3)).toEqual({ text: 'tid', more: 3 });
    expect(cutTo({ text: 'a🌊b', more: 0 }, 2)).toEqual({ text: 'a', more: 3 });
  });
});
