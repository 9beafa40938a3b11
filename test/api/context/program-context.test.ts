import { describe, expect, it } from 'vitest';
import { addProgramContext } from '../../../src/api/context/program-context.ts';
import type { ProgramContext } from '../../../src/api/setup/program-parts.ts';

const NONE = { refresh: async () => {}, getContext: () => null };

/** Reads texts as before a task. Returns the texts of the context by name, and the notices. */
async function read(texts: readonly ProgramContext[], maxReadMs: number) {
  const notices: string[] = [];
  const onNotice = (line: string) => void notices.push(line);
  const source = addProgramContext(NONE, { texts, cwd: '/work', onNotice, maxReadMs });
  await source.refresh();
  const files = source.getContext('/work')?.files ?? [];
  return { texts: files.map(({ name, text }) => [name, text]), notices };
}

describe('the texts of a program', () => {
  it('that hang are left out after their time, and hold up no other text', async () => {
    const hanging = { name: 'weather', read: () => new Promise<string>(() => {}) };
    const ready = { name: 'day', read: () => 'It is Monday.' };
    expect(await read([hanging, ready], 20)).toEqual({
      texts: [['day', 'It is Monday.']],
      notices: [
        'context weather could not be read and is left out: its function took longer than 0.02 s',
      ],
    });
  });

  it.each<[string, ProgramContext['read'], string]>([
    [
      'throw',
      () => {
        throw new Error('no network');
      },
      'no network',
    ],
    ['reject', () => Promise.reject(new Error('no network')), 'no network'],
  ])('that %s are left out with the reason', async (_how, readText, reason) => {
    expect(await read([{ name: 'weather', read: readText }], 60_000)).toEqual({
      texts: [],
      notices: [`context weather could not be read and is left out: ${reason}`],
    });
  });

  it('that are null are no part of the context', async () => {
    expect(await read([{ name: 'weather', read: () => null }], 60_000)).toEqual({
      texts: [],
      notices: [],
    });
  });
});
