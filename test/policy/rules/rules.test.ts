import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRule, parseRules, printRule } from '../../../src/policy/rules/rules.ts';

const source = { kind: 'flag', where: '--allow' } as const;
const parse = (text: string) => parseRule({ text, source });

describe('parseRule', () => {
  test.each([
    ['Bash', { tool: 'Bash' }],
    ['  Read ', { tool: 'Read' }],
    ['Bash(npm test)', { tool: 'Bash', specifier: 'npm test' }],
    ['Bash(git log:*)', { tool: 'Bash', specifier: 'git log:*' }],
    ['Bash(echo $(date))', { tool: 'Bash', specifier: 'echo $(date)' }],
    ['Bash(echo \\()', { tool: 'Bash', specifier: 'echo (' }],
    ['Bash(grep a\\.b)', { tool: 'Bash', specifier: 'grep a\\.b' }],
    ['Bash(dir \\\\)', { tool: 'Bash', specifier: 'dir \\' }],
    ['run_shell_command(ls)', { tool: 'Bash', specifier: 'ls' }],
    ['agent(Explore)', { tool: 'Task', specifier: 'Explore' }],
    ['Edit(src/**)', { tool: 'Edit', specifier: 'src/**' }],
    ['Read(//etc/hosts)', { tool: 'Read', specifier: '//etc/hosts' }],
    ['WebFetch(domain:example.com)', { tool: 'WebFetch', specifier: 'domain:example.com' }],
    ['WebFetch(domain:[::1])', { tool: 'WebFetch', specifier: 'domain:[::1]' }],
    ['TodoWrite(*)', { tool: 'TodoWrite', specifier: '*' }],
    ['NotebookEdit', { tool: 'Edit', specifier: '//**/*.ipynb' }],
    ['mcp__github', { tool: 'mcp__github' }],
    ['mcp__github__*', { tool: 'mcp__github__*' }],
    ['mcp__github__get_*', { tool: 'mcp__github__get_*' }],
    ['mcp__*__get', { tool: 'mcp__*__get' }],
    ['mcp__git*', { tool: 'mcp__git*' }],
    ['mcp__github__create_issue', { tool: 'mcp__github__create_issue' }],
  ])('%s', (text, expected) => {
    expect(parse(text)).toEqual({ ok: true, rule: { ...expected, text: text.trim(), source } });
  });

  test.each([
    ['', 'it must start with a tool name'],
    ['(x)', 'it must start with a tool name'],
    ['Bsh(rm:*)', 'there is no tool "Bsh"; did you mean Bash?'],
    ['bash_tool', 'there is no tool "bash_tool"; did you mean Bash?'],
    ['Reed', 'there is no tool "Reed"; did you mean Read?'],
    ['Frobnicate', 'there is no tool "Frobnicate".'],
    ['Bash(', 'balanced brackets'],
    ['Bash(a', 'balanced brackets'],
    ['Bash(a))', 'balanced brackets'],
    ['Bash(a)b', 'only `(specifier)` with balanced brackets may follow'],
    ['Bash(a), Bash(b)', 'only `(specifier)` with balanced brackets may follow'],
    ['Bash a', 'only `(specifier)` with balanced brackets may follow'],
    ['Bash(dir \\)', 'balanced brackets'],
    ['Bash()', 'the brackets are empty'],
    ['Bash(:*)', 'it names no command'],
    ['Bash(a\nb)', 'a line break'],
    ['TodoWrite(x)', 'TodoWrite takes no specifier'],
    ['mcp__a__b(x)', 'takes no specifier'],
    ['mcp__', 'it names no server; write mcp__SERVER or mcp__SERVER__TOOL.'],
    ['mcp__demo__', 'write mcp__demo for all tools of the server.'],
    ['mcp__my.server', 'write mcp__my_server.'],
    ['MCP__demo__x', 'did you mean mcp__demo__x?'],
    ['WebFetch(example.com)', '`WebFetch(domain:example.com)`'],
    ['WebFetch(domain:http://x/)', '`WebFetch(domain:example.com)`'],
    ['Edit(!src)', '`./!src`'],
    ['Edit(../x)', '`..` is not followed'],
    ['Edit(.)', '`./**`'],
    ['Edit(~root/x)', '`~` must be followed by `/`'],
  ])('%s is a problem', (text, mistake) => {
    const parsed = parse(text);
    expect(parsed.ok).toBe(false);
    if (parsed.ok) return;
    expect(parsed.problem.message).toContain(mistake);
    expect(parsed.problem.message.startsWith(`--allow: rule ${JSON.stringify(text)}: `)).toBe(true);
  });

  test('knows tools that a user of the library adds', () => {
    expect(parseRule({ text: 'Deploy', source }, ['Deploy'])).toEqual({
      ok: true,
      rule: { text: 'Deploy', tool: 'Deploy', source },
    });
  });

  test('reads back what printRule wrote, for any specifier', () => {
    const specifier = fc
      .oneof(
        fc.string({ unit: fc.constantFrom('(', ')', '\\', 'a', ' ', '*', ':', '"') }),
        fc.string(),
      )
      .map((text) => text.replaceAll(/\p{Cc}/gu, '').trim())
      .filter((text) => text !== '' && !/^[\s:*]*$/.test(text));
    fc.assert(
      fc.property(specifier, (specifier) => {
        const text = printRule({ tool: 'Bash', specifier });
        expect(parse(text)).toEqual({ ok: true, rule: { text, tool: 'Bash', specifier, source } });
      }),
    );
  });
});

describe('parseRules', () => {
  const texts = (...all: string[]) => all.map((text) => ({ text, source }));

  test('a rule with a mistake never gives rights, and is reported', () => {
    const { rules, problems } = parseRules({
      allow: texts('Bash(', 'Read'),
      ask: texts('WebFetch(x)'),
      deny: texts('Edit(!x)', 'Nonsense(x)'),
    });
    expect(rules).toEqual({
      allow: [{ text: 'Read', tool: 'Read', source }],
      ask: [{ text: 'WebFetch(x)', tool: 'WebFetch', source }],
      deny: [{ text: 'Edit(!x)', tool: 'Edit', source }],
    });
    expect(problems.map((problem) => problem.text)).toEqual([
      'Bash(',
      'WebFetch(x)',
      'Edit(!x)',
      'Nonsense(x)',
    ]);
  });
});

describe('the name of a tool that does less than the tool of Muster', () => {
  const lists = (text: string) => {
    const each = [{ text, source }];
    const read = (list: 'allow' | 'ask' | 'deny') =>
      parseRules({ allow: [], ask: [], deny: [], [list]: each });
    const { allow, deny } = { allow: read('allow'), deny: read('deny') };
    return {
      allowed: allow.rules.allow.map(printRule),
      denied: deny.rules.deny.map(printRule),
      problems: [...allow.problems, ...deny.problems].map(({ mistake }) => mistake),
    };
  };

  test.each([
    ['NotebookEdit', ['Edit(//**/*.ipynb)'], 'Edit(//**/*.ipynb)', []],
    ['NotebookEdit(src/**)', [], 'Edit(src/**)', ['NotebookEdit does less than Edit; write Edit']],
    ['create_file', [], 'Write', ['create_file does less than Write; write Write']],
    ['Create(src/**)', [], 'Write(src/**)', ['Create does less than Write; write Write']],
    ['read/viewImage', [], 'Read', ['read/viewImage does less than Read; write Read']],
    ['TodoRead', [], 'TodoWrite', ['TodoRead does less than TodoWrite; write TodoWrite']],
  ])('%s allows no more than it means, and denies at least that', (text, allowed, denied, told) => {
    expect(lists(text)).toEqual({
      allowed,
      denied: [denied],
      problems: told.map((each) => `${each}, and in brackets what it may do.`),
    });
  });
});
