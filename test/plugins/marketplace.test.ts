import { describe, expect, it } from 'vitest';
import { readMarketplace } from '../../src/plugins/marketplace.ts';
import { describePluginProblem } from '../../src/plugins/plugin-problem.ts';
import type { PluginSource } from '../../src/plugins/plugin-source.ts';

const REPOSITORY: PluginSource = {
  kind: 'git',
  url: 'https://git.example/team.git',
  ref: 'main',
  directory: '',
};
const DIRECTORY: PluginSource = { kind: 'directory', path: '/team' };

function readOne(source: unknown, place: PluginSource = DIRECTORY, more: object = {}) {
  const text = JSON.stringify({ name: 'team', plugins: [{ name: 'kit', source }], ...more });
  const { marketplace, problems } = readMarketplace(text, { source: place, commit: 'c0ffee' });
  return [marketplace?.entries[0]?.source, problems.map(describePluginProblem)] as const;
}

const git = (url: string, ref: string | null = null, directory = '') => ({
  kind: 'git',
  url,
  ref,
  directory,
});

/** The sources of https://code.claude.com/docs/en/plugin-marketplaces (plugin sources). */
const SOURCES: readonly (readonly [string, unknown, object])[] = [
  ['a path', './plugins/kit', { kind: 'directory', path: '/team/plugins/kit' }],
  ['the marketplace itself', './', { kind: 'directory', path: '/team' }],
  [
    'a repository on GitHub',
    { source: 'github', repo: 'owner/kit', ref: 'v2.0.0' },
    git('https://github.com/owner/kit.git', 'v2.0.0'),
  ],
  [
    'a commit on GitHub',
    { source: 'github', repo: 'owner/kit', ref: 'main', sha: 'a'.repeat(40) },
    git('https://github.com/owner/kit.git', 'a'.repeat(40)),
  ],
  [
    'an address',
    { source: 'url', url: 'https://gitlab.com/team/kit.git' },
    git('https://gitlab.com/team/kit.git'),
  ],
  [
    'an SSH address',
    { source: 'url', url: 'git@gitlab.com:team/kit.git', ref: 'main' },
    git('git@gitlab.com:team/kit.git', 'main'),
  ],
  [
    'a directory of a repository',
    { source: 'git-subdir', url: 'https://github.com/acme/mono.git', path: 'tools/kit', ref: 'v1' },
    git('https://github.com/acme/mono.git', 'v1', 'tools/kit'),
  ],
  [
    'a package',
    { source: 'npm', package: '@acme/kit', version: '2.1.0', registry: 'https://npm.example.com' },
    { kind: 'npm', name: '@acme/kit', version: '2.1.0', registry: 'https://npm.example.com' },
  ],
];

describe('the source of an entry', () => {
  it.each(SOURCES)('may be %s', (_, source, expected) => {
    expect(readOne(source)).toEqual([expected, []]);
  });

  it.each<readonly [string, string, object, object]>([
    ['./kit', 'a path', {}, git(REPOSITORY.url, 'c0ffee', 'kit')],
    [
      'kit',
      'a bare name',
      { metadata: { pluginRoot: './plugins' } },
      git(REPOSITORY.url, 'c0ffee', 'plugins/kit'),
    ],
    [
      './kit',
      'a path without the root',
      { metadata: { pluginRoot: './plugins' } },
      git(REPOSITORY.url, 'c0ffee', 'kit'),
    ],
  ])('%s is %s in the commit of the marketplace', (source, _, more, expected) => {
    expect(readOne(source, REPOSITORY, more)).toEqual([expected, []]);
  });

  it.each([
    ['../other', 'the path leads out of the marketplace'],
    [undefined, 'it must be a path or an object'],
    [{ source: 'pip', package: 'kit' }, 'the kind "pip" is not supported'],
    [{ source: 'github', repo: 'owner' }, 'a repository on GitHub is written as OWNER/REPOSITORY'],
    [{ source: 'github' }, '`repo` must be a text such as OWNER/REPOSITORY'],
    [{ source: 'url', url: 'ext::sh -c id' }, '`url` must be an https, ssh or file address'],
    [{ source: 'url', url: '--upload-pack=id' }, '`url` must be an https, ssh or file address'],
    [{ source: 'url', url: 'http://git.example/x' }, '`url` must be an https, ssh or file address'],
    [
      { source: 'url', url: 'https://x.example/x', ref: '--exec=id' },
      'the branch, tag or commit is not a valid name',
    ],
    [
      { source: 'git-subdir', url: 'https://x.example/x', path: '../..' },
      'the directory leads out of the repository',
    ],
    [{ source: 'npm', package: 'git+https://x' }, 'the name of the package is not valid'],
    [{ source: 'npm', package: '../x' }, 'the name of the package is not valid'],
    [
      { source: 'npm', package: 'x', version: 'file:../x' },
      'the version of the package must be one version or a tag',
    ],
    [
      { source: 'npm', package: 'x', registry: 'http://npm.example' },
      'the registry must be an https address',
    ],
  ])('cannot be %j', (source, reason) => {
    expect(readOne(source)).toEqual([
      null,
      [`.claude-plugin/marketplace.json: plugins[0].source: ${reason}; kit cannot be installed`],
    ]);
  });
});

describe('the file of a marketplace', () => {
  it('may have the fields of the documentation', () => {
    const text = JSON.stringify({
      $schema: 'https://anthropic.com/claude-code/marketplace.schema.json',
      name: 'company-tools',
      owner: { name: 'DevTools', email: 'devtools@example.com' },
      metadata: { description: 'Internal tools.', version: '1.0.0' },
      plugins: [
        {
          name: 'formatter',
          source: './formatter',
          description: 'Formats code.',
          version: '2.1.0',
          author: { name: 'DevTools' },
          category: 'productivity',
          tags: ['style'],
          strict: false,
        },
      ],
    });
    const { marketplace, problems } = readMarketplace(text, { source: DIRECTORY, commit: null });
    expect(problems).toEqual([]);
    expect(marketplace).toMatchObject({
      name: 'company-tools',
      description: 'Internal tools.',
      entries: [
        {
          name: 'formatter',
          version: '2.1.0',
          description: 'Formats code.',
          source: { kind: 'directory', path: '/team/formatter' },
          isStrict: false,
        },
      ],
    });
  });

  it.each([
    ['{', 'it is not valid JSON: '],
    ['[]', 'it must contain a JSON object'],
    ['{"name":"team"}', 'plugins: it must be a list'],
    ['{"name":"direct","plugins":[]}', 'name: it must be a name other than direct'],
    ['{"name":"a/b","plugins":[]}', 'name: it must be a name other than direct'],
  ])('cannot be %j', (text, reason) => {
    const { marketplace, problems } = readMarketplace(text, { source: DIRECTORY, commit: null });
    expect(marketplace).toBeNull();
    expect(problems.map(describePluginProblem)).toEqual([
      expect.stringContaining(`.claude-plugin/marketplace.json: ${reason}`),
    ]);
  });

  it('keeps its other entries if some are wrong', () => {
    const entries = [
      { name: 'a', source: './a' },
      1,
      { name: '../b' },
      { name: 'a', source: './c' },
    ];
    const text = JSON.stringify({ name: 'team', plugins: entries, colour: 'red' });
    const { marketplace, problems } = readMarketplace(text, { source: DIRECTORY, commit: null });
    expect(marketplace?.entries.map(({ name }) => name)).toEqual(['a']);
    expect(problems.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'colour: this field is not known and has no effect',
      'plugins[1]: it must be an object; the entry is left out',
      'plugins[2].name: it must be a name: letters, digits, `.`, `_` and `-`, at most 100, with a letter or digit first; the entry is left out',
      'plugins[3].name: a is there already; this entry is left out',
    ]);
  });

  it('is read up to a limit, which is named', () => {
    const plugins = Array.from({ length: 2001 }, (_, index) => ({
      name: `p${index}`,
      source: './x',
    }));
    const text = JSON.stringify({ name: 'team', plugins });
    const { marketplace, problems } = readMarketplace(text, { source: DIRECTORY, commit: null });
    expect([marketplace?.entries.length, problems.map(({ message }) => message)]).toEqual([
      2000,
      ['only its first 2000 plugins are used'],
    ]);
  });
});
