import * as fc from 'fast-check';
import type { AgentDefinition } from '../../src/protocol/agent.ts';
import { PERMISSION_MODES } from '../../src/protocol/permission.ts';
import type { Rights } from '../../src/protocol/permission.ts';
import type { ResolvedCall } from '../../src/policy/call.ts';
import { addCallLimits } from '../../src/policy/call-limits.ts';
import { addDefinitionRules } from '../../src/policy/attenuate.ts';
import {
  agent,
  bash,
  call,
  edit,
  fetchFrom,
  path,
  proved,
  read,
  ROOT,
  rules,
  spawn,
  write,
} from './support.ts';

const FILES = ['a.ts', 'src/a.ts', 'src/deep/b.ts', '.env', '.git/hooks/x', '/etc/hosts', '.'];
const LINES = [
  'npm test',
  'rm -rf x',
  'ls | xargs rm',
  'npm test && git push',
  'echo $(git push)',
  'bash -c "rm x"',
  'git push > out',
  'X=1 npm test',
  'echo "',
  '$X y',
  'git log -p',
];

/** Calls over a few files, commands, hosts and agents, so that rules meet them often. */
export const anyCall: fc.Arbitrary<ResolvedCall> = fc.oneof(
  fc.constantFrom(...FILES).map(read),
  fc.constantFrom(...FILES).map(edit),
  fc.constantFrom(...FILES).map(write),
  fc
    .constantFrom(...FILES)
    .map((to) => call('MoveFile', 'edit', { writes: [path('a.ts'), path(to)] })),
  fc.constantFrom(...FILES).map((link) => call('Edit', 'edit', { writes: [path('src/x', link)] })),
  fc.constantFrom(...FILES).map((file) => call('Grep', 'read', { reads: [path(file)] })),
  fc.constantFrom(...LINES).map(bash),
  fc
    .record({
      line: fc.constantFrom('cat x', 'npm test'),
      files: fc.subarray(FILES, { maxLength: 2 }),
    })
    .map(({ line, files }) => proved(line, ...files)),
  fc.constantFrom('example.com', 'a.example.com', 'other.org').map(fetchFrom),
  fc.constantFrom('Explore', 'Bash').map(spawn),
  fc.constantFrom('mcp__gh__x', 'mcp__gh__y').map((tool) => call(tool, 'execute')),
  fc.constantFrom(call('TodoWrite', 'meta'), call('WebSearch', 'network'), call('Edit', 'edit')),
);

const RULES = [
  'Read',
  'Edit',
  'Write',
  'Bash',
  'Task',
  'WebFetch',
  'MoveFile',
  'mcp__gh',
  'mcp__gh__x',
  'mcp__gh__*y',
  'mcp__*__x',
  'mcp__g*',
  'Edit(src/**)',
  'Edit(*.ts)',
  'Write(./src)',
  'Read(src/deep)',
  'Edit(//etc/**)',
  'Read(a.ts)',
  'Bash(npm test)',
  'Bash(npm:*)',
  'Bash(rm:*)',
  'Bash(git push:*)',
  'Bash(git *)',
  'Bash(*x*)',
  'Bash(npm test && git push)',
  'WebFetch(domain:example.com)',
  'Task(Explore)',
  'Task(bash)',
];

const someRules = fc.subarray(RULES, { maxLength: 4 });
export const anyRules = fc.record({ allow: someRules, ask: someRules, deny: someRules });

const toolNames = fc.subarray(
  ['Read', 'Edit', 'Write', 'MoveFile', 'Bash', 'Task', 'WebFetch', 'mcp__gh'],
  { maxLength: 2 },
);

/** Absent, like all that is absent in a definition, or set. */
const refusal = fc.constantFrom<{ readonly refusesQuestions?: true }>(
  {},
  { refusesQuestions: true },
);

const rightsButRefusal = fc.record({
  mode: fc.constantFrom(...PERMISSION_MODES),
  rules: anyRules.map(rules),
  disallowedTools: toolNames.map((names) => names.toSorted()),
  roots: fc.constantFrom([ROOT], [ROOT, '/other'], [`${ROOT}/src`], ['/other']),
  network: fc.boolean(),
  depth: fc.nat(3),
  maxDepth: fc.nat(3),
});

/** What a format writes: no pattern that hangs on the roots. */
const definitionRules = fc.subarray(
  RULES.filter((rule) => !/^(?:Edit|Read|Write)\((?!\/\/)/.test(rule)),
  { maxLength: 3 },
);

const names = fc.constantFrom('one', 'other');

const definitionRuleSets = fc.option(
  fc.record({ ask: definitionRules, deny: definitionRules }).map((ruleSet) => ({ rules: ruleSet })),
  { nil: {} },
);

/** Limits on tools, of definitions: no pattern that hangs on the roots either. */
const limitedTools = fc.option(
  fc
    .record({
      limits: fc.subarray(
        [
          { tool: 'Bash', rules: ['Bash(npm:*)', 'Bash(git log:*)'] },
          { tool: 'Edit', rules: [`Edit(/${ROOT}/src/**)`] },
          { tool: 'Read', rules: ['Read(//**/*.ts)'] },
          { tool: 'Write', rules: [], newFiles: true as const },
          { tool: 'WebFetch', rules: ['WebFetch(domain:example.com)'] },
        ],
        { minLength: 1, maxLength: 2 },
      ),
      unlimited: fc.subarray(['Read', 'Write', 'Bash'], { maxLength: 2 }),
    })
    .map((list) => ({ limitedTools: [list] })),
  { nil: {} },
);

/** Of a task somewhere in a tree: with what definitions above it have brought. */
export const anyRights: fc.Arbitrary<Rights> = fc
  .tuple(
    rightsButRefusal,
    refusal,
    fc.array(fc.tuple(names, definitionRuleSets, limitedTools), { maxLength: 2 }),
  )
  .map(([rights, refuses, brought]) => {
    const ruleSet = brought.reduce(
      (known, [name, own]) => addDefinitionRules(known, { name, ...own }),
      rights.rules,
    );
    const limits = brought.reduce(
      (known, [name, , own]) => addCallLimits(known.callLimits, { name, ...own }),
      addCallLimits([], { name: 'none' }),
    );
    return Object.assign(rights, refuses, { rules: ruleSet }, limits);
  });

const agentParts = fc.record({
  mode: fc.constantFrom(null, ...PERMISSION_MODES),
  disallowedTools: toolNames,
  tools: fc.record({ mode: fc.constantFrom('all', 'allow', 'deny'), names: toolNames }),
  name: names,
});

export const anyAgent: fc.Arbitrary<AgentDefinition> = fc
  .tuple(agentParts, refusal, definitionRuleSets, limitedTools)
  .map(([parts, refuses, ruleSets, limited]) =>
    agent({ ...parts, ...refuses, ...ruleSets, ...limited }),
  );
