import { describe, expect, test } from 'vitest';
import {
  CORE_TOOLS,
  MEMORY_TOOLS,
  CODE_SEARCH,
  TOOL_NAMES,
} from '../../src/protocol/tool-names.ts';
import { CODE_TOOL } from '../../src/protocol/file-tools.ts';
import type { ToolKind } from '../../src/protocol/tool.ts';
import { attenuate } from '../../src/policy/attenuate.ts';
import { createToolView } from '../../src/policy/tool-view.ts';
import type { ToolViewRequest } from '../../src/policy/tool-view.ts';
import { decide } from '../../src/policy/decide.ts';
import { agent, call, CONTEXT, path, rights } from './support.ts';

const EDITS = new Set(['Write', 'Edit', 'MultiEdit', 'MoveFile', 'DeleteFile', 'SetEnv']);
const READS = new Set(['Read', 'LS', 'Glob', 'Grep', 'FileInfo']);
const NETWORK = new Set(['WebFetch', 'WebSearch', 'HttpRequest']);

function kindOf(name: string): ToolKind {
  if (EDITS.has(name)) return 'edit';
  if (READS.has(name)) return 'read';
  if (NETWORK.has(name)) return 'network';
  if (name === 'Bash' || name.startsWith('mcp__')) return 'execute';
  return name === 'Task' || name === 'RunTemplate' ? 'delegate' : 'meta';
}

const named = (names: readonly string[]) => names.map((name) => ({ name, kind: kindOf(name) }));
const ALL = named([
  ...TOOL_NAMES.filter((name) => name !== CODE_SEARCH && name !== CODE_TOOL),
  'mcp__gh__b',
  'mcp__gh__a',
]);

function view(parts: Partial<ToolViewRequest>) {
  return createToolView({
    definition: agent(),
    rights: { ...rights(), depth: 1 },
    available: ALL,
    nested: false,
    root: false,
    delegable: true,
    ...parts,
  });
}

const main: Partial<ToolViewRequest> = { definition: null, rights: rights(), root: true };
const MCP = ['mcp__gh__a', 'mcp__gh__b'];
const without = (...names: string[]) => CORE_TOOLS.filter((name) => !names.includes(name));
const only = (...names: string[]) => agent({ tools: { mode: 'allow', names } });

test('the main agent has the core set, Task, TaskList and the MCP tools, in request order', () => {
  expect(view(main)).toEqual({
    names: [...CORE_TOOLS, 'Task', 'TaskList', 'RunTemplate', ...MCP],
    dropped: [],
  });
});

test('agents with the core tools have Code where there is a language server, and others if they name it', () => {
  const available = [...ALL, { name: CODE_TOOL, kind: 'read' } as const];
  const plan = { definition: agent({ mode: 'plan' }), rights: rights('plan') };
  const has = (parts: Partial<ToolViewRequest>) =>
    view({ available, ...parts }).names.includes(CODE_TOOL);
  expect([main, {}, plan, { definition: only('Code') }].map(has)).toEqual([true, true, true, true]);
  expect(has({ definition: only('Read') })).toBe(false);
  expect(view({ definition: only('Code', 'Read') })).toEqual({
    names: ['Read'],
    dropped: [{ name: 'Code', reason: 'No language server for this workspace was found.' }],
  });
});

test('a tool that delegates several times comes with Task, and is dropped without it or below the greatest depth', () => {
  const denied = { ...rights(), disallowedTools: ['Task'] };
  const deepest = { ...rights(), depth: 2 };
  const names = [denied, deepest].map(
    (each) => view({ definition: only('RunTemplate', 'Read'), rights: each }).names,
  );
  expect(names).toEqual([['Read'], ['Read']]);
});

test.each([
  ['park', 'plan', true],
  ['wait', 'plan', true],
  // It can be set at any time.
  ['wait', 'default', true],
  ['park', 'default', false],
  ['deny', 'default', false],
] as const)(
  'with questions that %s a main agent in %s mode shows plans: %s',
  (onAsk, mode, does) => {
    const { names } = view({ ...main, onAsk, rights: rights(mode) });
    expect(names.includes('ExitPlanMode')).toBe(does);
    expect(names).toContain('Write');
  },
);

test('an agent whose definition asks for plan mode cannot leave it, and is offered nothing that changes files', () => {
  const definition = agent({ mode: 'plan' });
  const { names } = view({ ...main, definition, onAsk: 'wait', rights: rights('plan') });
  expect(names).toEqual(without('Write', 'Edit', 'MultiEdit'));
});

test('a main agent in plan mode with nobody to end it is offered nothing that changes files', () => {
  const changes = 'Plan mode changes nothing.';
  expect(view({ ...main, rights: rights('plan') })).toEqual({
    names: [...without('Write', 'Edit', 'MultiEdit'), 'Task', 'TaskList', 'RunTemplate'],
    dropped: [
      { name: 'Write', reason: changes },
      { name: 'Edit', reason: changes },
      { name: 'MultiEdit', reason: changes },
      { name: 'mcp__gh__a', reason: changes },
      { name: 'mcp__gh__b', reason: changes },
    ],
  });
});

describe('a child', () => {
  const asksUser = { name: 'AskUser', reason: 'Only the main agent asks the user.' };

  test('whose definition names no tools gets the core set and MCP, but neither Task nor AskUser', () => {
    expect(view({})).toEqual({ names: [...without('AskUser'), ...MCP], dropped: [asksUser] });
  });

  test('gets Task too if agents are nested, down to the greatest depth', () => {
    expect(view({ nested: true }).names).toContain('Task');
    expect(view({ nested: true, rights: { ...rights(), depth: 2 } }).dropped).toEqual([
      asksUser,
      { name: 'Task', reason: 'At depth 2 of at most 2 (max_depth) nothing more is delegated.' },
    ]);
  });

  test('gets what its definition lists, and a reason for each tool that it does not get', () => {
    const definition = only('Grep', 'Read', 'Task', 'mcp__gh', 'ExitPlanMode', 'Unknown');
    expect(view({ definition })).toEqual({
      names: ['Read', 'Grep', 'Task', ...MCP],
      dropped: [
        {
          name: 'ExitPlanMode',
          reason: 'Only a main agent shows a plan, where somebody is there to approve it.',
        },
        { name: 'Unknown', reason: 'No such tool is available here.' },
      ],
    });
  });

  test.each([
    ['mcp__gh__*b', ['mcp__gh__b']],
    ['mcp__*__a', ['mcp__gh__a']],
    ['mcp__g*', MCP],
  ])('gets the tools of servers that %s covers, and a denial takes them away', (pattern, tools) => {
    expect(view({ definition: only('Read', pattern) }).names).toEqual(['Read', ...tools]);
    const denied = { ...rights(), disallowedTools: [pattern] };
    const left = view({ definition: only('Read', 'mcp__gh'), rights: denied });
    expect(left.names).toEqual(['Read', ...MCP.filter((name) => !tools.includes(name))]);
  });

  test('gets a reason for each listed tool that Muster does not have', () => {
    const definition = only('WebSearch', 'Read', 'Unknown');
    const available = ALL.filter(({ name }) => name !== 'WebSearch');
    expect(view({ definition, available })).toEqual({
      names: ['Read'],
      dropped: [
        {
          name: 'WebSearch',
          reason: 'No search service is configured (web.search in the configuration).',
        },
        { name: 'Unknown', reason: 'No such tool is available here.' },
      ],
    });
  });

  test.each([
    ['a list', only('Read'), ['Read', ...MEMORY_TOOLS]],
    ['an empty list', only(), [...MEMORY_TOOLS]],
    [
      'a denial',
      { ...only('Read'), disallowedTools: ['MemoryWrite'] },
      ['Read', ...MEMORY_TOOLS.filter((name) => name !== 'MemoryWrite')],
    ],
  ])(
    'with notes of its own has the tools for them besides %s, also in plan mode',
    (_, base, names) => {
      const definition = { ...base, memory: 'project' as const };
      const own = attenuate(rights('plan'), definition);
      expect(view({ definition, rights: own }).names).toEqual(names);
    },
  );

  test('with an empty list has none, nested or not', () => {
    expect(view({ definition: only(), nested: true })).toEqual({ names: [], dropped: [] });
  });

  test('does not get what its own definition, a task above or a rule for the whole tool denies', () => {
    const parent = {
      ...rights('default', { deny: ['WebFetch', 'Bash(rm:*)', 'mcp__gh__a'] }),
      disallowedTools: ['WebSearch'],
    };
    const definition = agent({
      tools: { mode: 'deny', names: ['Edit'] },
      disallowedTools: ['LS'],
    });
    const own = 'The definition itself denies it.';
    expect(view({ definition, rights: attenuate(parent, definition) })).toEqual({
      names: [
        ...without('Edit', 'MultiEdit', 'LS', 'WebFetch', 'WebSearch', 'AskUser'),
        'mcp__gh__b',
      ],
      dropped: [
        { name: 'Edit', reason: own },
        { name: 'MultiEdit', reason: own },
        { name: 'LS', reason: own },
        { name: 'WebFetch', reason: 'The deny rule `WebFetch` (--deny) forbids it.' },
        { name: 'WebSearch', reason: 'A task above denies it.' },
        asksUser,
        { name: 'mcp__gh__a', reason: 'The deny rule `mcp__gh__a` (--deny) forbids it.' },
      ],
    });
  });

  test('has no way to change files under deny Edit', () => {
    const names = view({ rights: rights('default', { deny: ['Edit'] }) }).names;
    expect(names.filter((name) => EDITS.has(name))).toEqual([]);
  });

  test.each([
    ['that its definition denies', { disallowedTools: ['Edit', 'Write'] }],
    ['that its definition leaves out', { tools: { mode: 'deny', names: ['Edit'] } }],
    ['to write alone', { disallowedTools: ['Write'] }],
  ] as const)(
    'that may not change files, %s, neither moves nor deletes them, nor do those below it',
    (_, parts) => {
      const denied = agent({ ...parts, name: 'reader' });
      const names = ['Read', 'FileInfo', 'MoveFile', 'DeleteFile'];
      const own = { rights: attenuate(rights('autonomous'), denied) };
      const listed = { ...denied, tools: { mode: 'allow', names } } as const;
      if (denied.tools.mode !== 'deny') {
        expect(view({ ...own, definition: listed })).toEqual({
          names: ['Read', 'FileInfo'],
          dropped: ['MoveFile', 'DeleteFile'].map((name) => ({
            name,
            reason: 'The definition itself denies it.',
          })),
        });
      }
      const below = attenuate(own.rights, only(...names));
      expect(view({ rights: below, definition: only(...names) }).names).toEqual([
        'Read',
        'FileInfo',
      ]);
      for (const tool of ['MoveFile', 'DeleteFile']) {
        const change = call(tool, 'edit', { writes: [path('a.ts')] });
        expect(decide(change, own.rights, CONTEXT).verdict).toBe('deny');
      }
    },
  );

  test('is offered no tool with an effect in plan mode, even if it lists it, except Bash and HttpRequest, of which some calls only read', () => {
    const definition = only('Read', 'Bash', 'Edit', 'WebFetch', 'HttpRequest', 'MemoryWrite');
    expect(view({ definition, rights: { ...rights('plan'), depth: 1 } })).toEqual({
      names: ['Read', 'Bash', 'WebFetch', 'HttpRequest', 'MemoryWrite'],
      dropped: [{ name: 'Edit', reason: 'Plan mode changes nothing.' }],
    });
  });

  test('is not offered what does not exist in this process', () => {
    const available = ALL.filter(({ name }) => name === 'Read');
    expect(view({ definition: only('Read', 'Grep'), available })).toEqual({
      names: ['Read'],
      dropped: [{ name: 'Grep', reason: 'No such tool is available here.' }],
    });
  });
});

describe('an agent that names the agents that it may delegate to', () => {
  const names = (parts: Partial<ToolViewRequest>) => view(parts).names;

  test('gets Task, whatever list it has', () => {
    const delegatesTo = ['Explore'];
    expect(names({ definition: { ...only('Read'), delegatesTo } })).toEqual(['Read', 'Task']);
    expect(names({ definition: { ...only(), delegatesTo } })).toEqual(['Task']);
    expect(names({ definition: agent({ delegatesTo }) })).toContain('Task');
  });

  test('does not get Task if it denies Task, at the greatest depth, or if none of these agents exists', () => {
    const definition = agent({ delegatesTo: ['Explore'], disallowedTools: ['Task'] });
    const denied = { ...rights(), depth: 1, disallowedTools: ['Task'] };
    expect(names({ definition, rights: denied })).not.toContain('Task');
    const named = { ...only('Task'), delegatesTo: ['nobody', 'none'] };
    expect(view({ definition: named, rights: { ...rights(), depth: 2, maxDepth: 2 } })).toEqual({
      names: [],
      dropped: [
        {
          name: 'Task',
          reason: 'At depth 2 of at most 2 (max_depth) nothing more is delegated.',
        },
      ],
    });
    expect(view({ definition: named, delegable: false }).dropped).toEqual([
      { name: 'Task', reason: 'None of the agents that it may delegate to is here: nobody, none.' },
    ]);
    expect(view({ definition: { ...named, delegatesTo: [] }, delegable: false }).dropped).toEqual([
      { name: 'Task', reason: 'Its definition names no agent that it may delegate to.' },
    ]);
  });
});

test('an agent that refuses questions gets no tool to ask with', () => {
  const silent: Partial<ToolViewRequest> = {
    definition: agent({ refusesQuestions: true }),
    rights: { ...rights(), refusesQuestions: true },
    root: true,
  };
  expect(view(silent).dropped).toEqual([
    { name: 'AskUser', reason: 'Its definition wants nothing asked of anybody.' },
  ]);
});

test('the code search is available if it is asked for by name, or if a model needs it with Read and Grep', () => {
  const available = [...ALL, ...named([CODE_SEARCH])];
  const denying = (...tools: string[]) => ({ ...rights('default', { deny: tools }), depth: 1 });
  const isGiven = (parts: Partial<ToolViewRequest>) =>
    view({ available, ...parts }).names.filter((name) => name === CODE_SEARCH).length;
  const readers = only('Read', 'Grep');
  const asking = only('Glob', CODE_SEARCH);
  const addsCodeSearch = true;
  expect([
    isGiven({}),
    isGiven(main),
    isGiven({ definition: readers }),
    isGiven({ definition: asking }),
    isGiven({ definition: asking, rights: denying('Read') }),
    isGiven({ definition: asking, rights: denying('Grep') }),
    isGiven({ definition: asking, rights: denying(CODE_SEARCH) }),
  ]).toEqual([0, 0, 0, 1, 0, 0, 0]);
  expect([
    isGiven({ addsCodeSearch }),
    isGiven({ addsCodeSearch, ...main }),
    isGiven({ addsCodeSearch, definition: readers }),
    isGiven({ addsCodeSearch, definition: only('Read', 'Grep', CODE_SEARCH) }),
    isGiven({ addsCodeSearch, definition: only('Read', 'Glob') }),
    isGiven({ addsCodeSearch, definition: readers, rights: denying('Read') }),
    isGiven({ addsCodeSearch, definition: readers, rights: denying('Grep') }),
    isGiven({ addsCodeSearch, definition: readers, rights: denying(CODE_SEARCH) }),
  ]).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
});

test.each([
  ['mcp__gh__c', [], 'No MCP server gh is configured.'],
  ['mcp__gh', [], 'No MCP server gh is configured.'],
  ['mcp__gh__*', ['other'], 'No MCP server gh is configured.'],
  ['mcp__*', [], 'No MCP server is configured.'],
  ['mcp__g*', ['other'], 'No MCP server has such a tool.'],
  ['mcp__gh__c', ['gh'], 'The MCP server gh has no such tool.'],
  ['mcp__new__*', ['gh', 'new'], 'The MCP server new could not be asked for its tools.'],
])('%s is not available if the servers are %j: %s', (name, parts, reason) => {
  const servers = parts.map((part) => ({ part, hasKnownTools: part !== 'new' }));
  const definition = only(name);
  expect(view({ definition, servers, available: [] }).dropped).toEqual([{ name, reason }]);
});
