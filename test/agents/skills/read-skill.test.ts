import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSkill } from '../../../src/agents/skills/read-skill.ts';
import { codesOf, readOne, skillFile, skillNamed } from './support.ts';

it('reads all fields of the format and its extensions', async () => {
  const skill = await readOne(
    skillFile(
      'name: deploy',
      'description: Deploys the service.',
      'when_to_use: When asked to ship.',
      'license: MIT',
      'compatibility: Needs git',
      'metadata:',
      '  author: us',
      'allowed-tools: Read Grep Bash(git log:*) mcp__ci__run',
      'disallowed-tools: [Write]',
      'context: fork',
      'agent: Explore',
      'model: haiku',
      'effort: high',
      'argument-hint: [service]',
      'arguments: [service, target]',
      'user-invocable: true',
    ),
  );
  expect(skill).toEqual(
    skillNamed('deploy', {
      description: 'Deploys the service. When asked to ship.',
      allowedTools: ['Read', 'Grep', 'Bash', 'mcp__ci__run'],
      disallowedTools: ['Write'],
      context: 'fork',
      agent: 'Explore',
      model: 'haiku',
      effort: 'high',
      argumentHint: '[service]',
      argumentNames: ['service', 'target'],
      extra: {
        license: 'MIT',
        compatibility: 'Needs git',
        metadata: { author: 'us' },
        'user-invocable': true,
      },
    }),
  );
});

describe('problems are reported, and the skill loads', () => {
  const cases: readonly (readonly [what: string, lines: readonly string[], codes: string[]])[] = [
    ['another name', ['name: ship', 'description: d'], ['name-differs-from-folder']],
    ['no description', ['name: deploy'], ['missing-description']],
    ['an unknown tool', ['description: d', 'allowed-tools: Read Nope'], ['unknown-tool']],
    ['tools that are none', ['description: d', 'allowed-tools: {a: 1}'], ['invalid-tools']],
    ['an unknown context', ['description: d', 'context: thread'], ['invalid-context']],
    ['an agent alone', ['description: d', 'agent: Explore'], ['agent-without-fork']],
    ['hooks that are none', ['description: d', 'hooks: x'], ['invalid-hooks']],
    ['paths', ['description: d', 'paths: a'], ['inactive-field']],
    ['fields of nobody', ['description: d', 'wat: 1'], ['unknown-field']],
    ['wrong arguments', ['description: d', 'arguments: a; b'], ['invalid-arguments']],
    ['a doubtful flag', ['description: d', 'disable-model-invocation: maybe'], ['invalid-flag']],
    ['broken YAML', ['description: a: b: c', 'name: deploy'], ['invalid-yaml']],
    ['a key twice', ['description: a', 'description: b'], ['duplicate-key']],
  ];
  it.each(cases)('%s', async (_, lines, codes) => {
    expect(codesOf(await readOne(skillFile(...lines)))).toEqual(codes);
  });

  it('no front matter', async () => {
    const skill = await readOne('# Deploy\n\nShips the service\nto production.\n\nSteps: none.\n');
    expect([skill.description, codesOf(skill)]).toEqual([
      'Ships the service to production.',
      ['frontmatter-missing', 'missing-description'],
    ]);
  });

  it('commands that other products would run, and their variables', async () => {
    const body = '---\ndescription: d\n---\nChanges: !`git diff`\nIn ${CLAUDE_SESSION_ID}.\n';
    expect(codesOf(await readOne(body))).toEqual(['command-in-text', 'unknown-variable']);
  });
});

it('values that may have been meant as limits are treated as limits', async () => {
  const doubtful = await readOne(skillFile('description: d', 'disable-model-invocation: perhaps'));
  const tools = await readOne(skillFile('description: d', 'allowed-tools: 7'));
  expect([doubtful.modelInvocable, tools.allowedTools]).toEqual([false, []]);
});

describe('allowed-tools', () => {
  const cases: readonly (readonly [written: string, names: readonly string[]])[] = [
    ['Read Grep', ['Read', 'Grep']],
    ['Read, Grep', ['Read', 'Grep']],
    ['Bash(git add *) Bash(git commit *)', ['Bash']],
    ['"Read, Bash(npm run test:*), mcp__a__b"', ['Read', 'Bash', 'mcp__a__b']],
    ['[Read, "Bash(gh pr view:*)"]', ['Read', 'Bash']],
    ['read_file run_shell_command', ['Read', 'Bash']],
  ];
  it.each(cases)('%s', async (written, names) => {
    const skill = await readOne(skillFile('description: d', `allowed-tools: ${written}`));
    expect(skill.allowedTools).toEqual(names);
  });
});

describe('unusable files', () => {
  const fields = 'name: deploy\ndescription: Deploys.';
  const hostile: Readonly<Record<string, string>> = {
    'a byte order mark': `\uFEFF---\n${fields}\n---\nGo.`,
    CRLF: `---\r\n${fields.replace('\n', '\r\n')}\r\n---\r\nGo.`,
    'a huge description': `---\ndescription: ${'a '.repeat(500_000)}\n---\nGo.`,
    'an alias bomb': `---\nname: deploy\na: &a [x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n---\nGo.`,
    __proto__: `---\n${fields}\n__proto__: {modelInvocable: false}\nconstructor: x\n---\nGo.`,
    'control characters': '---\ndescription: "a\\e[2Jb"\n---\nGo.',
    'a text of nothing but headings': '# x\n'.repeat(500_000),
    'tools without end': `---\n${fields}\nallowed-tools: ${'a('.repeat(300_000)}\n---\nGo.`,
    'an open fence': `---\n${fields}\n`,
    nothing: '',
  };
  it.each(Object.entries(hostile))('%s', async (_, text) => {
    const path = '/skills/deploy/SKILL.md';
    const { items, problems } = await readSkill({ path, scope: 'user', text });
    const [skill] = items;
    if (skill === undefined) {
      expect(problems).toMatchObject([{ path, line: expect.any(Number) }]);
      return;
    }
    expect(problems).toEqual([]);
    expect(skill.name).toBe('deploy');
    expect(skill.modelInvocable).toBe(true);
    expect(skill.description.length).toBeLessThanOrEqual(20_000);
    expect(skill.description).not.toContain('\u001b');
  });

  it.each(['a\nb', 'a\u202Eb', '*', 'a(b)'])('a folder called %j', async (name) => {
    const file = { path: `/skills/${name}/SKILL.md`, scope: 'user', text: '' } as const;
    const { items, problems } = await readSkill(file);
    expect([items, problems.map(({ code }) => code)]).toEqual([[], ['invalid-name']]);
  });

  it('reading never throws, whatever the content', async () => {
    const line = fc.oneof(
      fc.constantFrom('---', 'name: x', 'description: "', 'allowed-tools: (((', 'context: fork'),
      fc.constantFrom(
        'arguments: [a, {b: c}]',
        '- x',
        '  y: &a *a',
        '!`ls`',
        '$ARGUMENTS[0]',
        '\t',
      ),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
        const text = lines.join('\n');
        const path = '/skills/deploy/SKILL.md';
        const { items, problems } = await readSkill({ path, scope: 'user', text });
        expect(items.length + problems.length).toBe(1);
        for (const { message } of problems) expect(message).not.toBe('');
      }),
      { numRuns: 300 },
    );
  });
});
