// Realistic journal events: a small one (about 280 bytes as JSON) and one that carries a result of 4 KB.

import { hash } from 'node:crypto';

const ANSWER_BYTES = 4096;
const WORDS =
  'the review found that this file keeps an open handle when parsing fails so close it before the retry and check severity high or low'.split(
    ' ',
  );

export function smallEvent(i) {
  return {
    seq: i,
    ts: 1771331400000 + i * 37,
    run: '20260217-100000-000-7f3a',
    type: 'op.finished',
    parent: `s${i >> 3}`,
    op: `main/for#2[${i}]/review#0`,
    site: 'pipeline.mld:14:9',
    number: i,
    key: hash('sha256', `k${i}`),
    reused: false,
    elapsedMs: 1200 + (i % 900),
    ok: true,
  };
}

export function bigEvent(i) {
  const { site: _site, reused: _reused, ok: _ok, parent: _parent, ...event } = smallEvent(i);
  return { ...event, type: 'call.completed', bytes: ANSWER_BYTES, result: { inline: prose(i) } };
}

function prose(salt) {
  let text = '';
  let state = (salt * 2654435761) >>> 0;
  while (text.length < ANSWER_BYTES) {
    state = (state * 1664525 + 1013904223) >>> 0;
    text += WORDS[state % WORDS.length] + ((state >>> 9) % 11 ? ' ' : '.\n');
  }
  return text.slice(0, ANSWER_BYTES);
}
