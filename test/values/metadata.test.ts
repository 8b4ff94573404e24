import { describe, expect, it } from 'vitest';
import { mxField, mxObject } from '../../src/values/metadata.js';
import { annotate, dataOf, labelsOf, type Value } from '../../src/values/value.js';

const gull = (text: string, relative = './fleet/north/gull.txt', data: Value = text): Value =>
  annotate(dataOf(data), {
    text,
    sources: ['src:file'],
    file: { relative, absolute: `/srv${relative.slice(1)}`, frontmatter: { rank: 3 } },
  });

describe('.mx', () => {
  it.each<[string, Value, string, Value]>([
    ['labels of a plain value', 'a', 'labels', []],
    ['labels', annotate('a', { labels: ['secret'] }), 'labels', ['secret']],
    ['taint', annotate('a', { labels: ['secret'], sources: ['src:js'] }), 'taint', ['secret', 'src:js']],
    ['sources of a plain value', annotate('a', { labels: ['secret'] }), 'sources', []],
    ['length', 'one two three', 'length', 13],
    ['an estimate of tokens', 'one two three', 'tokest', 4],
    ['tokens of nothing', '', 'tokens', 0],
    ['keys', { apples: 3, pears: 0 }, 'keys', ['apples', 'pears']],
    ['values', { apples: 3, pears: 0 }, 'values', [3, 0]],
    ['entries', { apples: 3 }, 'entries', [['apples', 3]]],
    ['keys of a list', [1], 'keys', null],
    ['an unknown field', 'a', 'nothing', null],
    ['a name of the host', 'a', 'constructor', null],
    ['file fields of a plain value', 'a', 'filename', null],
    ['filename', gull('g'), 'filename', 'gull.txt'],
    ['relative', gull('g'), 'relative', './fleet/north/gull.txt'],
    ['relativeDir', gull('g'), 'relativeDir', './fleet/north'],
    ['relativeDir of a file in the root', gull('g', './a.txt'), 'relativeDir', '.'],
    ['dirname', gull('g'), 'dirname', 'north'],
    ['absoluteDir', gull('g'), 'absoluteDir', '/srv/fleet/north'],
    ['path', gull('g'), 'path', '/srv/fleet/north/gull.txt'],
    ['frontmatter', gull('g'), 'fm', { rank: 3 }],
    ['source', gull('g'), 'source', 'load-content'],
    ['the kind of a text file', gull('g'), 'type', 'text'],
    ['the kind of a data file', gull('{}', './a.json', { a: 1 }), 'type', 'object'],
    ['the kind of a scalar file', gull('12', './a.json', 12), 'type', 'json'],
    ['tokens of a text file', gull('x'.repeat(21)), 'tokens', 6],
    ['tokens of code', gull('x'.repeat(21), './a.js'), 'tokens', 7],
    ['tokens of JSON', gull(`"${'x'.repeat(19)}"`, './a.JSON', 'x'), 'tokens', 5],
  ])('tells %s', (_, value, name, content) => {
    expect(dataOf(mxField(value, name))).toEqual(content);
  });

  it('tells text and data, with the labels of the value', () => {
    const value = annotate({ a: 1 }, { labels: ['secret'], text: '{ a: 1 }' });
    expect(dataOf(mxField(value, 'text'))).toBe('{ a: 1 }');
    expect(dataOf(mxField(value, 'data'))).toEqual({ a: 1 });
    for (const name of ['text', 'data', 'keys', 'values', 'entries']) expect(labelsOf(mxField(value, name))).toEqual(['secret']);
    for (const name of ['labels', 'length', 'type']) expect(labelsOf(mxField(value, name))).toEqual([]);
  });

  it('tells how a command ended', () => {
    const command = { source: 'sh', command: 'ls', exitCode: 3, durationMs: 12, stderr: 'no' };
    const value = annotate('out', { command });
    const fields = ['source', 'command', 'exitCode', 'duration', 'stderr', 'sources'].map((name) => mxField(value, name));
    expect(fields).toEqual(['sh', 'ls', 3, 12, 'no', ['ls']]);
  });

  it('tells what is known about the name', () => {
    const binding = { name: 'x', definedAt: { line: 2, column: 5, filePath: 'a.mld' }, index: 3, key: 'k' };
    expect(['name', 'definedAt', 'index', 'key'].map((name) => mxField('a', name, binding))).toEqual(['x', binding.definedAt, 3, 'k']);
  });

  it('is an object of what there is to tell', () => {
    const value = mxObject(annotate('pin', { labels: ['secret'] }), { name: 'p' });
    expect(dataOf(value)).toMatchObject({ name: 'p', labels: ['secret'], text: 'pin', length: 3 });
    expect(dataOf(value)).not.toHaveProperty('filename');
    expect(labelsOf(value)).toEqual(['secret']);
  });
});
