import { detectFormat } from '../../../src/agents/formats/detect-format.ts';
import { goose } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, test } from 'vitest';
import { codes, plainAgent, read } from '../support.ts';

const PATH = '/r/recipes/changelog.yaml';
const HEAD = [
  'title: Changelog Writer',
  'description: Writes it.',
  'instructions: Write.',
] as const;

const PLAIN = plainAgent('goose', {
  name: 'Changelog Writer',
  description: 'Writes it.',
  prompt: 'Write.',
  path: PATH,
});

async function readText(text: string, path = PATH) {
  const { items, problems } = await read(goose.agents, text, path);
  if (items[0] === undefined) throw new Error(JSON.stringify(problems));
  return items[0];
}

const readYaml = (...lines: readonly string[]) => readText(lines.join('\n'));

test('a recipe with every field', async () => {
  const agent = await readYaml(
    'version: "1.0.0"',
    'title: Changelog Writer',
    'description: Writes it.',
    'instructions: |',
    '  Write about {{ release }} in {{ language }}.',
    '',
    '  ---',
    '  See {{ recipe_dir }}/style.md and {{ other | upper }}.',
    'prompt: Begin with {{ release }}.',
    'extensions:',
    '  - {type: builtin, name: developer, timeout: 300}',
    '  - {type: stdio, name: builder mcp, cmd: serve}',
    '  - {type: streamable_http, name: wiki, uri: "http://x", available_tools: [find, read]}',
    'settings:',
    '  goose_provider: acme',
    '  goose_model: some-model',
    '  temperature: 0.2',
    '  max_turns: 40',
    'parameters:',
    '  - {key: release, input_type: string, requirement: required, description: Which one}',
    '  - {key: language, input_type: select, requirement: optional, default: en, options: [en, de]}',
    '  - {key: unused, requirement: required}',
    '  - {no: key}',
    'sub_recipes: [{name: style, path: ./style.yaml}]',
    'retry: {max_retries: 2}',
    'response: {json_schema: {type: object}}',
    'activities: [Write it]',
    'context: [./notes.md]',
    'author: {contact: someone}',
    'mood: calm',
  );
  expect(agent).toEqual({
    ...PLAIN,
    prompt:
      'Write about {{ release }} in {{ language }}.\n\n---\nSee {{ recipe_dir }}/style.md and {{ other | upper }}.',
    initialPrompt: 'Begin with {{ release }}.',
    parameters: [
      { name: 'release', description: 'Which one' },
      { name: 'language', description: 'One of: en, de.', default: 'en' },
      { name: 'unused', description: '' },
      { name: 'recipe_dir', description: 'The directory of the recipe.', default: '/r/recipes' },
      { name: 'other', description: '' },
    ],
    tools: {
      mode: 'allow',
      names: [
        'Read',
        'Write',
        'Edit',
        'Bash',
        'mcp__builder_mcp__*',
        'mcp__wiki__find',
        'mcp__wiki__read',
      ],
    },
    model: 'some-model',
    limits: { maxTurns: 40 },
    outputSchema: { type: 'object' },
    extra: {
      version: '1.0.0',
      'settings.goose_provider': 'acme',
      'settings.temperature': 0.2,
      sub_recipes: [{ name: 'style', path: './style.yaml' }],
      retry: { max_retries: 2 },
      activities: ['Write it'],
      context: ['./notes.md'],
      author: { contact: 'someone' },
      mood: 'calm',
    },
    problems: [
      {
        code: 'template-params',
        message:
          'Its texts have the placeholders `{{ release }}`, `{{ other }}`: the prompt of a task must give their values.',
        path: PATH,
        line: 19,
      },
      expect.objectContaining({ code: 'inactive-field', path: PATH, line: 1 }),
    ],
  });
});

test('files of the desktop application, in YAML and JSON', async () => {
  const recipe = { title: 'Changelog Writer', description: 'Writes it.', instructions: 'Write.' };
  const outer = { name: 'changelog', recipe, isGlobal: true, lastModified: '2026-01-02' };
  const expected = { ...PLAIN, extra: { isGlobal: true, lastModified: '2026-01-02' } };
  const problems = [expect.objectContaining({ code: 'inactive-field' })];
  const json = '/r/recipes/changelog.json';
  expect([
    await readText(JSON.stringify(outer)),
    await readText(JSON.stringify(outer, null, 2), json),
  ]).toEqual([
    { ...expected, problems },
    { ...expected, problems, origin: { ...PLAIN.origin, path: json } },
  ]);
});

describe('instructions and prompt', () => {
  test.each([
    [['instructions: Do.', 'prompt: Go.'], { prompt: 'Do.', initialPrompt: 'Go.' }, []],
    [['instructions: Do.'], { prompt: 'Do.' }, []],
    [['prompt: Go.'], { prompt: 'Go.' }, []],
    [[], { prompt: '' }, ['missing-prompt']],
    [['instructions: {a: b}'], { prompt: '' }, ['missing-prompt']],
  ])('%j', async (lines, fields, expected) => {
    const agent = await readYaml('title: Changelog Writer', 'description: Writes it.', ...lines);
    expect(agent).toEqual({ ...PLAIN, ...fields, problems: expect.any(Array) });
    expect(codes(agent)).toEqual(expected);
  });
});

describe('extensions', () => {
  const allow = (...names: string[]): object => ({ mode: 'allow', names });
  test.each([
    ['extensions:', { mode: 'all', names: [] }, []],
    ['extensions: []', allow(), ['no-tools']],
    ['extensions: [developer]', allow('Read', 'Write', 'Edit', 'Bash'), []],
    [
      'extensions: [{type: platform, name: summon}, {type: platform, name: todo}]',
      allow('Task', 'TodoWrite'),
      [],
    ],
    ['extensions: [{type: platform, name: skills}]', allow('Skill'), []],
    [
      'extensions: [{type: builtin, name: developer, available_tools: [shell, tree]}]',
      allow('Bash', 'LS'),
      [],
    ],
    [
      'extensions: [{type: builtin, name: developer, available_tools: [text_editor]}]',
      allow('Read', 'Write', 'Edit'),
      [],
    ],
    [
      'extensions: [{type: builtin, name: computercontroller}, developer]',
      allow('Read', 'Write', 'Edit', 'Bash'),
      ['unknown-tool'],
    ],
    ['extensions: [{type: builtin}]', allow(), ['unknown-tool', 'no-known-tools']],
    ['extensions: [3]', allow(), ['unknown-tool', 'no-known-tools']],
    ['extensions: {a: {b: c}}', allow(), ['invalid-tools']],
  ])('%s', async (line, tools, expected) => {
    const agent = await readYaml(...HEAD, line);
    expect([agent.tools, codes(agent)]).toEqual([tools, expected]);
  });
});

describe('parameters', () => {
  test.each([
    ['parameters: [{key: a, default: true}]', [{ name: 'a', description: '', default: 'true' }]],
    ['parameters: [{key: a, default: [1]}]', [{ name: 'a', description: '', default: '[1]' }]],
    ['parameters: [{key: a, default: ""}]', [{ name: 'a', description: '', default: '' }]],
    ['parameters: {a: b}', undefined],
    ['parameters: [a, 3, null]', undefined],
  ])('%s', async (line, parameters) => {
    const agent = await readYaml(...HEAD, line);
    expect([agent.parameters, codes(agent)]).toEqual([parameters, []]);
  });
});

test('broken YAML is read line by line', async () => {
  const agent = await readYaml(
    'title: Changelog Writer',
    'description: Writes: it.',
    'instructions: |',
    '  Write.',
    'settings:',
    '  max_turns: 3',
  );
  expect(agent).toEqual({
    ...PLAIN,
    description: 'Writes: it.',
    limits: { maxTurns: 3 },
    problems: [expect.objectContaining({ code: 'invalid-yaml', line: 2 })],
  });
});

test('another YAML or JSON file is not a recipe', async () => {
  const others = await Promise.all([
    read(goose.agents, 'services: {web: {image: x}}\n', PATH),
    read(goose.agents, '{"name": "x"}', '/r/package.json'),
    read(goose.agents, '- a\n', PATH),
  ]);
  expect(others.map(({ items, problems }) => [items, problems.map(({ code }) => code)])).toEqual([
    [[], ['not-an-agent']],
    [[], ['not-an-agent']],
    [[], ['invalid-yaml']],
  ]);
  const isRecipe = (text: string): boolean => detectFormat('some/file.yaml', text) === goose.agents;
  expect([
    isRecipe(HEAD.join('\n')),
    isRecipe('recipe:\n  title: x\n  prompt: y\n'),
    isRecipe('{"recipe":{"title":"x","prompt":"y"}}'),
    isRecipe('title: x\nsteps: []\n'),
    isRecipe('on: push\njobs:\n  a:\n    steps:\n      - title: x\n        prompt: y\n'),
    isRecipe('{"title": "x", "version": 1}'),
  ]).toEqual([true, true, true, false, false, false]);
});

test('locations of recipes', () => {
  const user = (path?: string): readonly string[] =>
    goose.agents.locations.user({
      home: '/h',
      config: '/h/.config',
      readVariable: (name) => (name === 'GOOSE_RECIPE_PATH' ? path : undefined),
    });
  expect([user(), user('/a:b:/c'), goose.agents.locations.project]).toEqual([
    ['/h/.config/goose/recipes'],
    ['/a', '/c', '/h/.config/goose/recipes'],
    ['.goose/recipes'],
  ]);
});
