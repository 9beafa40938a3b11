import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { attenuate } from '../../src/policy/attenuate.ts';
import { addRestrictions, dropInheritedRestrictions } from '../../src/policy/conversation-rules.ts';
import { decide } from '../../src/policy/decide.ts';
import { hasCallEffect } from '../../src/policy/decision-input.ts';
import { limitRightsToParent } from '../../src/policy/mode-grants.ts';
import { PERMISSION_MODES, type Rights } from '../../src/protocol/permission.ts';
import type { Restriction } from '../../src/protocol/state/questions.ts';
import { anyAgent, anyCall, anyRights, anyRules } from './arbitraries.ts';
import { CONTEXT, rights, rules } from './support.ts';

const source = { kind: 'answer', where: 'set with /permissions' } as const;
const anyRestrictions: fc.Arbitrary<readonly Restriction[]> = anyRules.map((texts) => {
  const { ask, deny } = rules(texts);
  return [
    ...ask.map((rule) => ({ list: 'ask', rule: { ...rule, source } }) as const),
    ...deny.map((rule) => ({ list: 'deny', rule: { ...rule, source } }) as const),
  ];
});

const isSubset = (part: ReadonlySet<string>, all: ReadonlySet<string>): boolean =>
  [...part].every((each) => all.has(each));

/** The verdicts, from the narrowest to the widest. */
const WIDTH = { deny: 0, ask: 1, allow: 2 };

it('the rules of a user only narrow what a task may do, and a deny rule wins over every allow rule', () => {
  fc.assert(
    fc.property(anyCall, anyRights, anyRestrictions, (call, before, restrictions) => {
      const after = decide(call, addRestrictions(before, restrictions), CONTEXT);
      expect(WIDTH[after.verdict]).toBeLessThanOrEqual(
        WIDTH[decide(call, before, CONTEXT).verdict],
      );
      const allowed = { text: call.tool, tool: call.tool, source };
      const { deny } = addRestrictions(before, restrictions).rules;
      const widened: Rights = {
        ...before,
        rules: { allow: [allowed], ask: [], deny },
      };
      const denied = decide(call, { ...widened, rules: { allow: [], ask: [], deny } }, CONTEXT);
      if (denied.step === 'deny_rule') {
        expect(decide(call, widened, CONTEXT)).toMatchObject({ verdict: 'deny' });
      }
    }),
  );
});

it('no allow rule lifts a hard rule, and in plan mode none allows a call that changes something', () => {
  fc.assert(
    fc.property(
      anyCall,
      fc.constantFrom(...PERMISSION_MODES),
      anyRules,
      (call, mode, { allow }) => {
        const without = decide(call, rights(mode), CONTEXT);
        const granted = decide(call, rights(mode, { allow: [...allow, call.tool] }), CONTEXT);
        if (without.step === 'floor') expect(granted).toEqual(without);
        if (mode === 'plan' && hasCallEffect(call) && without.verdict !== 'allow') {
          expect(granted.verdict).toBe(without.verdict);
        }
      },
    ),
  );
});

it('a task created under such rules has exactly those that are in force for the task above', () => {
  fc.assert(
    fc.property(anyRights, anyAgent, anyRestrictions, fc.nat(), (own, agent, all, cut) => {
      const created = attenuate(addRestrictions(own, all), agent);
      const now = all.slice(0, cut % (all.length + 1));
      const parent = addRestrictions(own, now);
      const child = limitRightsToParent(dropInheritedRestrictions(created), parent, {
        definition: agent,
        grant: null,
      });
      const set = (each: Rights, list: 'ask' | 'deny') =>
        new Set(
          each.rules[list]
            .filter(({ source: { kind } }) => kind === 'answer')
            .map(({ tool, specifier }) => `${tool}(${specifier ?? ''})`),
        );
      for (const list of ['ask', 'deny'] as const) {
        expect(isSubset(set(child, list), set(parent, list))).toBe(true);
        const covered = new Set(
          child.rules[list].map(({ tool, specifier }) => `${tool}(${specifier ?? ''})`),
        );
        expect(isSubset(set(parent, list), covered)).toBe(true);
      }
    }),
  );
});
