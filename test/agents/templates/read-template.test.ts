import { describe, expect, it } from 'vitest';
import { TEMPLATES } from '../../../src/agents/kinds.ts';
import { readTemplate } from '../../../src/agents/templates/read-template.ts';

function read(text: string) {
  return readTemplate({ path: '/p/mine.md', scope: 'user', text });
}

describe('a template file', () => {
  it('defines the tasks', async () => {
    const text =
      '---\nname: mine\ndescription: Mends.\nsubagent_type: Review\nmodel: fast\nmax-turns: 7\n---\n\nMend {{item}}.\n';
    expect(await read(text)).toEqual({
      items: [
        {
          name: 'mine',
          description: 'Mends.',
          agent: 'Review',
          model: 'fast',
          maxTurns: 7,
          body: 'Mend {{item}}.',
          path: '/p/mine.md',
          scope: 'user',
          problems: [],
        },
      ],
      problems: [],
    });
  });

  it('may isolate, repeat and score the work on an item', async () => {
    const fields =
      'isolation: worktree\nattempts: 4\nmodels: [fast, balanced]\nscore: npm run bench';
    const found = await read(`---\n${fields}\n---\n{{item}}`);
    expect(found).toMatchObject({
      items: [
        {
          isolation: 'worktree',
          attempts: 4,
          models: ['fast', 'balanced'],
          score: 'npm run bench',
          problems: [],
        },
      ],
    });
  });

  it.each([
    ['isolation: container', 'invalid-isolation'],
    ['attempts: 0', 'invalid-attempts'],
    ['attempts: 1.5', 'invalid-attempts'],
    ['attempts: 101', 'invalid-attempts'],
    ['models: []', 'invalid-models'],
    ['score: [a, b]', 'invalid-score'],
  ])(
    'with `%s` is refused, because its tasks could get into each other’s way',
    async (line, code) => {
      const found = await read(`---\n${line}\n---\n{{item}}`);
      expect(found).toMatchObject({ items: [], problems: [{ code }] });
    },
  );

  it('gets its name from its file, and reports unknown fields', async () => {
    const found = await read('---\ncolour: red\nmax_turns: many\n---\n{{item}}');
    expect(found).toMatchObject({
      items: [
        {
          name: 'mine',
          problems: [
            { code: 'invalid-max-turns', line: 3 },
            { code: 'unknown-field', line: 2 },
          ],
        },
      ],
    });
  });

  it.each([
    ['{{item}}', 'frontmatter-missing'],
    ['---\nname: x\n{{item}}', 'front-matter-unclosed'],
    ['---\nname: x\n---\n{{item}} {{file}}', 'unknown-placeholder'],
    ['---\nname: x\n---\nthe same each time {{index}}', 'no-item'],
  ])('%j is refused: %s', async (text, code) => {
    expect(await read(text)).toMatchObject({ items: [], problems: [{ code, path: '/p/mine.md' }] });
  });

  it('that ships with Muster loads without problems', async () => {
    const found = await TEMPLATES.loadBuiltins();
    expect(found.map(({ name, problems }) => [name, problems])).toEqual([
      ['test-file', []],
      ['refactor-module', []],
      ['best-of-n', []],
    ]);
  });
});
