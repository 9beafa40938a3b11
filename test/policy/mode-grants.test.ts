import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseAgentMode } from '../../src/policy/modes.ts';
import { attenuate, intersectRights } from '../../src/policy/attenuate.ts';
import {
  identifyDefinition,
  findModeGrant,
  findGrantScope,
  findModeToGrant,
  dropRevokedGrant,
  limitRightsToParent,
  explainGrant,
  addModeToGrant,
} from '../../src/policy/mode-grants.ts';
import { delegatedMode, narrowerMode, widerMode } from '../../src/policy/modes.ts';
import type { AgentDefinition, AgentScope } from '../../src/protocol/agent.ts';
import {
  PERMISSION_MODES,
  type Decision,
  type ModeGrant,
  type PermissionMode,
  type RuleSource,
} from '../../src/protocol/permission.ts';
import { anyAgent, anyRights } from './arbitraries.ts';
import { agent, rights } from './support.ts';

function grant(mode: PermissionMode, parts: Partial<ModeGrant> = {}): ModeGrant {
  return {
    agent: 'worker',
    mode,
    definition: null,
    source: { kind: 'config', where: '/home/me/.config/muster/config.toml:2' },
    ...parts,
  };
}

function from(scope: AgentScope, path = `/${scope}/worker.md`): AgentDefinition {
  return agent({ origin: { scope, vendor: 'muster', path }, mode: 'acceptEdits' });
}

const anyMode = fc.constantFrom(...PERMISSION_MODES);

describe('the mode below a task', () => {
  it.each<[PermissionMode | null, PermissionMode, PermissionMode | null, PermissionMode]>([
    ['acceptEdits', 'default', null, 'default'],
    ['acceptEdits', 'default', 'acceptEdits', 'acceptEdits'],
    ['acceptEdits', 'default', 'autonomous', 'acceptEdits'],
    ['autonomous', 'default', 'acceptEdits', 'acceptEdits'],
    ['autonomous', 'acceptEdits', 'default', 'acceptEdits'],
    ['plan', 'default', 'autonomous', 'plan'],
    ['default', 'default', 'autonomous', 'default'],
    [null, 'default', 'acceptEdits', 'acceptEdits'],
    [null, 'autonomous', 'acceptEdits', 'autonomous'],
    ['acceptEdits', 'plan', 'acceptEdits', 'plan'],
    ['autonomous', 'plan', 'autonomous', 'plan'],
    [null, 'plan', 'autonomous', 'plan'],
  ])(
    'of a definition that asks for %s under %s with the grant %s is %s',
    (mode, above, given, expected) => {
      expect(delegatedMode({ mode }, above, given === null ? null : { mode: given })).toBe(
        expected,
      );
    },
  );
});

describe('rights with a grant', () => {
  test('differ from those without it only in the mode, which stays within parent, grant and definition', () => {
    fc.assert(
      fc.property(anyRights, anyAgent, anyMode, (parent, definition, mode) => {
        const plain = attenuate(parent, definition);
        const granted = attenuate(parent, definition, { mode });
        expect({ ...granted, mode: plain.mode }).toEqual(plain);
        expect(widerMode(granted.mode, plain.mode)).toBe(granted.mode);
        const most =
          parent.mode === 'plan'
            ? 'plan'
            : narrowerMode(widerMode(parent.mode, mode), definition.mode ?? 'autonomous');
        expect(narrowerMode(granted.mode, most)).toBe(granted.mode);
      }),
    );
  });

  test('are not passed on to a task below', () => {
    fc.assert(
      fc.property(anyRights, anyAgent, anyAgent, anyMode, (parent, one, other, mode) => {
        const raised = attenuate(parent, one, { mode });
        const below = attenuate(raised, other);
        expect(narrowerMode(below.mode, raised.mode)).toBe(below.mode);
      }),
    );
  });

  test('are those that a task would get now, or less if it was created with less', () => {
    fc.assert(
      fc.property(anyRights, anyRights, anyAgent, anyMode, (then, above, definition, mode) => {
        const given = grant(mode);
        const made = attenuate(then, definition, given);
        const now = limitRightsToParent(made, above, { definition, grant: given });
        const { mode: most } = attenuate(above, definition, given);
        expect(narrowerMode(now.mode, most)).toBe(now.mode);
        expect({ ...now, mode: 'plan' }).toEqual({ ...intersectRights(made, above), mode: 'plan' });
        expect(limitRightsToParent(made, above, { definition, grant: null })).toEqual(
          intersectRights(made, above),
        );
      }),
    );
  });

  it('widen a task that was created before, except for one in plan mode', () => {
    const definition = agent({ mode: 'acceptEdits' });
    const terms = { definition, grant: grant('acceptEdits') };
    const mode = (recorded: PermissionMode, above: PermissionMode) =>
      limitRightsToParent(rights(recorded), rights(above), terms).mode;
    expect([mode('default', 'default'), mode('plan', 'default'), mode('default', 'plan')]).toEqual([
      'acceptEdits',
      'plan',
      'plan',
    ]);
  });

  it('return to those without the grant for a main task', () => {
    const raised = rights('acceptEdits');
    expect(dropRevokedGrant(raised, 'default', null).mode).toBe('default');
    expect(dropRevokedGrant(raised, 'default', grant('acceptEdits')).mode).toBe('acceptEdits');
    expect(dropRevokedGrant(raised, null, null)).toBe(raised);
  });
});

describe('a grant', () => {
  it.each<[AgentScope, boolean]>([
    ['user', true],
    ['session', true],
    ['builtin', true],
    ['project', false],
    ['plugin', false],
  ])('by a name alone, for a definition of the %s: %s', (scope, isMeant) => {
    expect(findModeGrant(from(scope), [grant('acceptEdits')]) !== null).toBe(isMeant);
  });

  it('for one file applies to this file alone, and to its content if others may write it', () => {
    const project = from('project');
    const bound = grant('acceptEdits', { definition: identifyDefinition(project) });
    expect(findModeGrant(project, [bound])).toBe(bound);
    expect(findModeGrant({ ...project, prompt: 'and now this' }, [bound])).toBeNull();
    expect(findModeGrant(from('project', '/elsewhere/worker.md'), [bound])).toBeNull();
    expect(findModeGrant({ ...project, name: 'other' }, [bound])).toBeNull();
    const user = from('user');
    const own = grant('acceptEdits', { definition: identifyDefinition(user) });
    expect(findModeGrant({ ...user, prompt: 'and now this' }, [own])).toBe(own);
    expect(findModeGrant(from('user', '/user/sub/worker.md'), [own])).toBeNull();
  });

  it('applies to the same definition when it is read from a log', () => {
    const project = from('project');
    const read: AgentDefinition = JSON.parse(JSON.stringify(project));
    const bound = grant('acceptEdits', { definition: identifyDefinition(project) });
    expect(findModeGrant(read, [bound])).toBe(bound);
  });

  it('is the widest of several, and ignores the case of the name', () => {
    const wide = grant('autonomous', { agent: 'WORKER' });
    expect(findModeGrant(from('user'), [grant('acceptEdits'), wide, grant('default')])).toBe(wide);
  });

  it.each<[RuleSource, string]>([
    [{ kind: 'flag', where: '--agent-mode' }, 'task'],
    [{ kind: 'answer', where: "the user's answer to question q1" }, 'task'],
    [{ kind: 'answer', where: '/state/agent-modes.json' }, 'user'],
    [{ kind: 'config', where: '/home/me/config.toml:2' }, 'user'],
    [{ kind: 'env', where: 'MUSTER_PERMISSIONS_AGENT_MODES' }, 'user'],
  ])('from %j has the scope %s', (source, scope) => {
    expect(findGrantScope(grant('acceptEdits', { source }))).toBe(scope);
  });
});

describe('an offer', () => {
  const ASK: Decision = { verdict: 'ask', step: 'tool_default', reason: 'Why.' };
  const ALLOW: Decision = { verdict: 'allow', step: 'mode', reason: 'It may.' };
  const child = (mode: PermissionMode) => ({ ...rights(mode), depth: 1 });

  it('is made if the mode alone answers the question', () => {
    const terms = { definition: from('user'), rights: child('default') };
    expect(addModeToGrant(ASK, terms, () => ALLOW).modeToGrant).toEqual({
      agent: 'worker',
      mode: 'acceptEdits',
      isOwn: true,
    });
    expect(addModeToGrant(ASK, terms, () => ASK)).toBe(ASK);
    for (const step of ['floor', 'ask_rule'] as const) {
      const other = { ...ASK, step };
      expect(addModeToGrant(other, terms, () => ALLOW)).toBe(other);
    }
    expect(addModeToGrant(ALLOW, terms, () => ALLOW)).toBe(ALLOW);
  });

  it.each([
    ['in plan mode', from('user'), child('plan')],
    ['to the main agent', from('user'), rights('default')],
    ['to one that has its mode', from('user'), child('acceptEdits')],
    ['to one that asks for no mode', agent(), child('default')],
  ])('is not made %s', (_, definition, own) => {
    expect(findModeToGrant(definition, own)).toBeNull();
  });

  it.each([
    [
      { agent: 'coder', mode: 'acceptEdits', isOwn: false },
      '--agent-mode coder=acceptEdits (for one conversation)',
    ],
    [
      { agent: "a b'c", mode: 'autonomous', isOwn: true },
      `--agent-mode 'a b'\\''c=autonomous', or agent_modes = ["a b'c=autonomous"] under [permissions] of your configuration`,
    ],
  ] as const)('%j is explained with the flag or key that grants it', (lacking, expected) => {
    expect(explainGrant(lacking)).toBe(expected);
  });
});

it.each([
  ['coder=acceptEdits', { agent: 'coder', mode: 'acceptEdits' }],
  [' a = b = bypassPermissions ', { agent: 'a = b', mode: 'autonomous' }],
  ['coder=ACCEPTEDITS', { agent: 'coder', mode: 'acceptEdits' }],
  ['coder=default', { agent: 'coder', mode: 'default' }],
  ['coder=plan', null],
  ['coder=dontAsk', null],
  ['coder=', null],
  ['=acceptEdits', null],
  ['acceptEdits', null],
  ['', null],
])('%j as a grant', (text, expected) => {
  expect(parseAgentMode(text)).toEqual(expected);
});
