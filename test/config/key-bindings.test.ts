import { expect, it } from 'vitest';
import { TRUST_ALL } from '../../src/sys/files/project-file.ts';
import { loadConfig, readConfig } from '../../src/config/load.ts';
import { makePlace, problemsIn } from './support.ts';

it('key bindings of the terminal are read with their locations', async () => {
  const place = makePlace({
    user: '[models]\n\n[keys]\nbackground = ["ctrl+g", "f2"]\nredraw = "f5"\nexpand = []\n',
  });
  const { config } = await loadConfig(place.inputs());
  const where = (line: number) => `${place.userFile}:${line}`;
  expect(config.keyBindings).toEqual(
    new Map([
      ['background', { keys: ['ctrl+g', 'f2'], where: where(4) }],
      ['redraw', { keys: ['f5'], where: where(5) }],
      ['expand', { keys: [], where: where(6) }],
    ]),
  );
});

it.each([
  ['[keys]\nbackground = 3\n', 'keys.background must be a list of keys like ["ctrl+g"], not 3'],
  ['[keys]\nbackground = ["a", 3]\n', 'keys.background must be a list of keys'],
  ['keys = 3\n', 'write it as a section: [keys]'],
  ['[key]\n', 'unknown section [key]; valid: [keys],'],
])('%j is an error', async (text, message) => {
  const problems = await problemsIn(text);
  expect(problems.join('\n')).toContain(message);
});

it('a project cannot set key bindings', async () => {
  const place = makePlace({ project: '[keys]\nleave = ["ctrl+y"]\n' });
  const { config, notices, problems } = await readConfig(place.inputs({ trust: TRUST_ALL }));
  expect(config.keyBindings).toEqual(new Map());
  expect(problems).toEqual([]);
  expect(notices).toEqual([
    {
      where: `${place.projectFile}:2`,
      message: 'a project cannot bind keys; [keys] is ignored. Put it into your own configuration',
    },
  ]);
});
