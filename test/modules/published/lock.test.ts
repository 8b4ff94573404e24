import { describe, expect, it } from 'vitest';
import { lockText, parseLock, storedPath, type LockedModule } from '../../../src/modules/published/lock.js';

const SHA = 'a'.repeat(64);
const module: LockedModule = { name: '@a/b', version: '1.0.0', sha256: SHA, format: 'mld.md', source: 'https://x.example/b.mld.md' };

describe('the lock', () => {
  it('reads what it wrote', () => {
    const all = new Map([
      ['@a/b', { ...module, imports: ['@a/c'], registry: 'https://x.example/i.json' }],
      ['@a/c', { name: '@a/c', sha256: SHA, format: 'mld', source: 'c.mld', transitive: true } as const],
    ]);
    const text = lockText({ modules: new Map(), whole: {} }, all, new Set());
    expect(parseLock(text, 'l').modules).toEqual(all);
    expect(text).toMatch(/^\{\n  "lockfileVersion": 1,\n  "modules": \{\n    "@a\/b": \{\n      "version"/);
  });

  it('keeps what another program wrote, which counts as missing', () => {
    const foreign = {
      lockfileVersion: 3,
      cache: { x: 1 },
      modules: { '@z/z': { resolved: 'u', integrity: 'i' }, '@a/old': { sha256: 1 } },
    };
    const lock = parseLock(JSON.stringify(foreign), 'l');
    expect([...lock.modules.keys()]).toEqual([]);
    const written = JSON.parse(lockText(lock, new Map([['@a/b', module]]), new Set(['@a/old']))) as typeof foreign;
    expect(written).toMatchObject({ lockfileVersion: 3, cache: { x: 1 }, modules: { '@z/z': foreign.modules['@z/z'] } });
    expect(Object.keys(written.modules)).toEqual(['@a/b', '@z/z']);
  });

  it('takes no version that a message would show as something else', () => {
    const { name, ...entry } = { ...module, version: '1.0\nerror: none' };
    expect(parseLock(JSON.stringify({ modules: { [name]: entry } }), 'l').modules.get(name)).not.toHaveProperty('version');
  });

  it.each([
    ['@a/../../etc', {}],
    ['@a/b', { sha256: '../../../etc' }],
    ['@a/b', { format: '/../x' }],
    ['@a/b', { source: 5 }],
  ])('takes no entry %s with %j', (name, change) => {
    const { name: _name, ...entry } = module;
    expect(parseLock(JSON.stringify({ modules: { [name]: { ...entry, ...change } } }), 'l').modules.size).toBe(0);
  });

  it('names the file of a module by its digest and its own name', () => {
    expect(storedPath('/p/.mlld/modules', module)).toBe(`/p/.mlld/modules/${SHA}/b.mld.md`);
  });

  it.each(['{', '[]', '{"modules": []}'])('refuses %s', (text) => {
    expect(() => parseLock(text, 'mlld-lock.json')).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }) as Error);
  });
});
