import { describe, expect, it } from 'vitest';
import { chooseOfferedRules } from '../../src/policy/suggest-rule.ts';
import type { Decision } from '../../src/protocol/permission.ts';

function offered(
  tool: string,
  wouldAllow: string | undefined,
  step: Decision['step'] = 'tool_default',
) {
  const decision: Decision = {
    verdict: 'ask',
    step,
    reason: 'why',
    ...(wouldAllow === undefined ? {} : { wouldAllow }),
  };
  return chooseOfferedRules(decision, { tool, rights: { roots: ['/work', '/lib'] } });
}

describe('the rule that an answer “always” saves', () => {
  it.each([
    ['Bash', 'Bash(npm test)', 'Bash(npm test)'],
    ['Bash', 'Bash(echo a && echo b)', 'Bash(echo a && echo b)'],
    ['WebFetch', 'WebFetch(domain:example.com)', 'WebFetch(domain:example.com)'],
    ['Task', 'Task(Explore)', 'Task(Explore)'],
    ['mcp__box__open', 'mcp__box__open', 'mcp__box__open'],
    // The same wherever it is asked about, so its paths are written out.
    ['Edit', 'Edit(src/**)', 'Edit(//work/src/**)'],
    ['Write', 'Edit(./a.txt)', 'Edit(//work/a.txt)'],
    ['Edit', 'Edit(//tmp/x/**)', 'Edit(//tmp/x/**)'],
  ])('%s %s is %s', (tool, wouldAllow, rule) => {
    expect(offered(tool, wouldAllow)).toEqual([rule]);
  });

  it.each([
    ['nothing would allow it', 'Bash', undefined],
    ['a flag would, and no rule', 'Read', '--add-dir "/etc"'],
    ['only a rule for the full tool would, though its rules can be narrower', 'Bash', 'Bash'],
    ['a star in the command would match any text', 'Bash', 'Bash(rm build/*)'],
    ['it would be a prefix', 'Bash', 'Bash(npm run:*)'],
    ['it can not be read', 'Bash', 'Bash('],
  ])('is none if %s', (_, tool, wouldAllow) => {
    expect(offered(tool, wouldAllow)).toEqual([]);
  });

  it.each(['tool_set', 'deny_rule', 'floor', 'ask_rule'] as const)('is none at step %s', (step) => {
    expect(offered('Bash', 'Bash(npm test)', step)).toEqual([]);
  });
});
