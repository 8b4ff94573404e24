// Realistic journal events: a small one (about 300 bytes as a line) and one that carries an answer of 4 KB.

import { hash } from 'node:crypto';

const ANSWER_BYTES = 4096;
const WORDS =
  'the review found that this file keeps an open handle when parsing fails so close it before the retry and check severity high or low'.split(
    ' ',
  );

export function smallEvent(i) {
  return {
    seq: i,
    type: 'op.finished',
    op: `main/for#2[${i}]/review#0`,
    key: hash('sha256', `k${i}`),
    status: 'ok',
    elapsedMs: 1200 + (i % 900),
    site: 'pipeline.mld:14:9',
  };
}

export function bigEvent(i) {
  return { ...smallEvent(i), type: 'call.completed', fn: 'review', result: { inline: prose(i) } };
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
