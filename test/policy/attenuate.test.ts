import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type PermissionRule,
  type Rights,
  PERMISSION_MODES,
} from '../../src/protocol/permission.ts';
import { attenuate, intersectRights, createRootRights } from '../../src/policy/attenuate.ts';
import { isInside } from '../../src/base/path-inside.ts';
import type { ResolvedCall, CallPath } from '../../src/policy/call.ts';
import { decide } from '../../src/policy/decide.ts';
import { makeAllowRulesAbsolute } from '../../src/policy/rules/absolute-rules.ts';
import { printRule } from '../../src/policy/rules/rules.ts';
import { anyAgent, anyCall, anyRights } from './arbitraries.ts';
import { agent, edit, CONTEXT, rights, ROOT, rules } from './support.ts';

const RANK = { deny: 0, ask: 1, allow: 2 };

function texts(list: readonly PermissionRule[]): readonly string[] {
  return list.map(printRule).toSorted();
}

const holds = (whole: readonly string[], part: readonly string[]): boolean =>
  part.every((each) => whole.includes(each));

/** Allow rules with relative paths written out, since roots may differ. */
function allowed({ rules, roots }: Rights): readonly string[] {
  return texts(makeAllowRulesAbsolute(rules.allow, roots));
}

/** Limits on calls, their paths written out where the task below works elsewhere. */
function limitTexts({ callLimits = [], roots }: Rights, below: readonly string[]) {
  return callLimits.map(({ rules: own, ...others }) =>
    JSON.stringify([
      others,
      texts(roots[0] === below[0] ? own : makeAllowRulesAbsolute(own, roots)),
    ]),
  );
}

/** Whether nothing in `low` reaches beyond `high`. */
function isBelow(low: Rights, high: Rights): boolean {
  return (
    PERMISSION_MODES.indexOf(low.mode) <= PERMISSION_MODES.indexOf(high.mode) &&
    holds(texts(low.rules.deny), texts(high.rules.deny)) &&
    holds(texts(low.rules.ask), texts(high.rules.ask)) &&
    holds(allowed(high), allowed(low)) &&
    holds(low.disallowedTools, high.disallowedTools) &&
    holds(limitTexts(low, low.roots), limitTexts(high, low.roots)) &&
    low.roots.every((root) => high.roots.some((each) => isInside(each, root))) &&
    (high.network || !low.network) &&
    (low.refusesQuestions === true || high.refusesQuestions === undefined) &&
    low.depth >= high.depth &&
    low.maxDepth <= high.maxDepth
  );
}

/** The call as it would be resolved for a task with these roots. */
function inRootsOf(owner: Rights, made: ResolvedCall): ResolvedCall {
  const judged = (each: CallPath): CallPath => ({
    ...each,
    insideRoots: owner.roots.some((root) => isInside(root, each.real)),
  });
  const { access } = made;
  return {
    ...made,
    access: { ...access, reads: access.reads.map(judged), writes: access.writes.map(judged) },
  };
}

describe('attenuate', () => {
  test('narrows the rights by the definition, one level deeper', () => {
    const parent = { ...rights('autonomous', { allow: ['Bash'] }), disallowedTools: ['WebFetch'] };
    const definition = agent({
      mode: 'acceptEdits',
      tools: { mode: 'deny', names: ['Bash'] },
      disallowedTools: ['Write'],
    });
    expect(attenuate(parent, definition)).toEqual({
      ...parent,
      mode: 'acceptEdits',
      disallowedTools: ['Bash', 'WebFetch', 'Write'],
      depth: 1,
    });
  });

  test('adds the rules of the definition, which ask and deny, and name it as their source', () => {
    const parent = rights('autonomous', { allow: ['Bash'], ask: ['Bash(rm:*)'] });
    const definition = agent({
      name: 'careful',
      rules: { ask: ['Bash(git push:*)', 'Bash(rm:*)'], deny: ['Edit(//**/*.env)', 'Read(a)('] },
    });
    const source = { kind: 'definition', where: 'agent careful' };
    expect(attenuate(parent, definition).rules).toEqual({
      allow: parent.rules.allow,
      ask: [
        ...parent.rules.ask,
        { text: 'Bash(git push:*)', tool: 'Bash', specifier: 'git push:*', source },
      ],
      deny: [
        { text: 'Edit(//**/*.env)', tool: 'Edit', specifier: '//**/*.env', source },
        { text: 'Read(a)(', tool: 'Read', source },
      ],
    });
    const main = createRootRights({ ...parent, maxDepth: 2 }, definition);
    expect(main.rules).toEqual(attenuate(parent, definition).rules);
  });

  test.each([
    ['plan', 'autonomous', 'plan'],
    ['default', 'autonomous', 'default'],
    ['acceptEdits', null, 'acceptEdits'],
    ['acceptEdits', 'default', 'default'],
    ['plan', null, 'plan'],
    ['autonomous', 'acceptEdits', 'acceptEdits'],
  ] as const)('in %s mode an agent that asks for %s gets %s', (mode, wish, expected) => {
    expect(attenuate(rights(mode), agent({ mode: wish })).mode).toBe(expected);
  });

  test('a list of tools is a choice and not a right', () => {
    const coordinator = attenuate(
      rights('acceptEdits'),
      agent({ mode: 'acceptEdits', tools: { mode: 'allow', names: ['Task'] } }),
    );
    const worker = attenuate(coordinator, agent({ mode: 'acceptEdits' }));
    expect(decide(edit('a.ts'), worker, CONTEXT).verdict).toBe('allow');
  });

  test('an agent that refuses questions refuses them for all tasks below, whatever their definitions say', () => {
    const silent = attenuate(rights(), agent({ refusesQuestions: true }));
    expect(silent).toEqual({ ...rights(), refusesQuestions: true, depth: 1 });
    expect(attenuate(silent, agent({ refusesQuestions: false })).refusesQuestions).toBe(true);
    expect(intersectRights(rights(), silent).refusesQuestions).toBe(true);
    expect(intersectRights(silent, rights()).refusesQuestions).toBe(true);
  });

  test('never gives more than the parent has, and no call that the parent refuses runs in the child', () => {
    fc.assert(
      fc.property(anyRights, fc.array(anyAgent, { maxLength: 4 }), anyCall, (root, chain, made) => {
        let parent = root;
        for (const definition of chain) {
          const child = attenuate(parent, definition);
          expect(isBelow(child, parent)).toBe(true);
          expect(RANK[decide(made, child, CONTEXT).verdict]).toBeLessThanOrEqual(
            RANK[decide(made, parent, CONTEXT).verdict],
          );
          parent = child;
        }
        expect(isBelow(parent, root)).toBe(true);
      }),
    );
  });

  test('applied twice is the same as once, one level deeper', () => {
    fc.assert(
      fc.property(anyRights, anyAgent, (parent, definition) => {
        const once = attenuate(parent, definition);
        expect(attenuate(once, definition)).toEqual({ ...once, depth: once.depth + 1 });
      }),
    );
  });

  test('the order of two definitions makes no difference below both', () => {
    fc.assert(
      fc.property(anyRights, anyAgent, anyAgent, (parent, one, other) => {
        expect(attenuate(attenuate(parent, one), other)).toEqual(
          attenuate(attenuate(parent, other), one),
        );
      }),
    );
  });

  test('narrowing a parent first or its child afterwards has the same result', () => {
    fc.assert(
      fc.property(anyRights, anyRights, anyAgent, (parent, maxRights, definition) => {
        const before = attenuate(intersectRights(parent, maxRights), definition);
        const after = intersectRights(attenuate(parent, definition), {
          ...maxRights,
          depth: maxRights.depth + 1,
        });
        expect(after).toEqual(before);
      }),
    );
  });
});

describe('intersectRights', () => {
  test('of three does not depend on which two come first', () => {
    fc.assert(
      fc.property(anyRights, anyRights, anyRights, (one, two, three) => {
        const left = intersectRights(intersectRights(one, two), three);
        const right = intersectRights(one, intersectRights(two, three));
        expect([left.refusesQuestions, left.mode, left.disallowedTools, left.network]).toEqual([
          right.refusesQuestions,
          right.mode,
          right.disallowedTools,
          right.network,
        ]);
      }),
    );
  });

  test('gives no more than either, and a second time changes nothing', () => {
    fc.assert(
      fc.property(anyRights, anyRights, (recorded, maxRights) => {
        const both = intersectRights(recorded, maxRights);
        expect([isBelow(both, recorded), isBelow(both, maxRights)]).toEqual([true, true]);
        expect(intersectRights(both, maxRights)).toEqual(both);
      }),
      { numRuns: 1000 },
    );
  });

  test('allows no call that either refuses, with any roots of the rules', () => {
    const verdict = (made: ResolvedCall, owner: Rights): number =>
      RANK[decide(inRootsOf(owner, made), owner, CONTEXT).verdict];
    fc.assert(
      fc.property(anyRights, anyRights, anyCall, (recorded, maxRights, made) => {
        const both = verdict(made, intersectRights(recorded, maxRights));
        expect(both).toBeLessThanOrEqual(verdict(made, recorded));
        expect(both).toBeLessThanOrEqual(verdict(made, maxRights));
      }),
      { numRuns: 1000 },
    );
  });

  test('a relative rule keeps the meaning that it had in its roots', () => {
    const recorded = { ...rights('default', { allow: ['Edit(x/**)'] }), roots: ['/a', '/b'] };
    const cut = intersectRights(recorded, { ...recorded, roots: ['/b'] });
    expect(cut.rules.allow).toEqual([]);
    const denied = { ...rights('default', { deny: ['Read(secret/**)'] }), roots: ['/a'] };
    const deeper = intersectRights(denied, { ...rights(), roots: ['/a/secret'] });
    expect(texts(deeper.rules.deny)).toEqual(['Read(//a/secret/**)', 'Read(secret/**)']);
  });

  test('keeps roots that are in a root of both', () => {
    const recorded = { ...rights(), roots: ['/a/b', '/c'] };
    const maxRights = { ...rights(), roots: ['/a', '/c/d', '/e'] };
    expect(intersectRights(recorded, maxRights).roots).toEqual(['/a/b', '/c/d']);
  });
});

describe('createRootRights', () => {
  const grant = {
    mode: 'acceptEdits' as const,
    rules: rules({ deny: ['Bash(rm:*)'] }),
    roots: [ROOT],
    network: true,
    maxDepth: 2,
  };

  test('gives the main agent what the user granted', () => {
    expect(createRootRights(grant, null)).toEqual({ ...grant, disallowedTools: [], depth: 0 });
  });

  test('narrows the rights by the definition of --agent, which never widens the mode', () => {
    const asked = agent({ mode: 'autonomous', disallowedTools: ['Write'] });
    expect(createRootRights(grant, asked)).toEqual({
      ...grant,
      disallowedTools: ['Write'],
      depth: 0,
    });
    expect(createRootRights(grant, agent({ mode: 'plan' })).mode).toBe('plan');
    expect(createRootRights(grant, agent()).mode).toBe('acceptEdits');
    expect(createRootRights(grant, agent({ refusesQuestions: true })).refusesQuestions).toBe(true);
  });
});
