import { decide } from '../../src/policy/decide.ts';
import type { JudgedCall } from '../../src/policy/call.ts';
import type { DecisionFacts } from '../../src/policy/judged.ts';
import { proveReadOnly } from '../../src/policy/read-only/prove.ts';
import { parseRules } from '../../src/policy/rules.ts';
import { readShell } from '../../src/policy/shell-grammar.ts';
import type { Rights } from '../../src/protocol/permission.ts';
import { EVERYDAY } from '../../test/policy/read-only/everyday.ts';
import { NASTY } from '../../test/policy/read-only/nasty.ts';
import type { Figure } from '../harness/figure.ts';
import type { Row } from '../harness/row.ts';
import { quantile } from '../harness/statistics.ts';

const ROUNDS = 40;
const WARM_UP = 4;
const LINES = [...EVERYDAY, ...NASTY];

/** What each tool call waits for before it may run, the looks at the disk not counted. */
export const decision: Row = {
  name: 'decision',
  async measure(): Promise<readonly Figure[]> {
    const rights = rightsWithRules();
    const judging = times((line) => proveReadOnly(line, readShell));
    const deciding = times((line) => decide(callOf(line), rights, FACTS));
    const notes = [`${LINES.length} command lines, ${ROUNDS} times each`];
    const most = (limit: number) => ({ kind: 'most', most: limit, goal: limit }) as const;
    const p99 = [quantile(judging, 0.99)];
    return [
      { what: 'a decision', unit: 'ms', samples: deciding, bound: most(0.05), notes },
      { what: 'judging a command line', unit: 'ms', samples: judging, bound: most(1), notes },
      { what: 'the same, 99 of 100', unit: 'ms', samples: p99, bound: most(5), notes },
    ];
  },
};

const FACTS: DecisionFacts = {
  home: '/home/me',
  stateDirectories: ['/home/me/.config/muster'],
  shellParser: readShell,
  sandboxed: true,
};

function rightsWithRules(): Rights {
  const texts = (...rules: readonly string[]) =>
    rules.map((text) => ({ text, source: { kind: 'flag' as const, where: 'bench' } }));
  const { rules } = parseRules({
    allow: texts('Edit(src/**)', 'Bash(npm test)', 'Bash(git commit:*)', 'WebFetch'),
    ask: texts('Bash(git push:*)', 'Edit(package.json)'),
    deny: texts('Bash(rm:*)', 'Bash(curl:*)', 'Read(secrets/**)', 'Edit(docs/**)'),
  });
  return {
    mode: 'default',
    rules,
    disallowedTools: [],
    roots: ['/srv/project'],
    network: false,
    depth: 0,
    maxDepth: 2,
  };
}

function callOf(line: string): JudgedCall {
  const access = { reads: [], writes: [], commands: [line], hosts: [] };
  const path = '/srv/project/src/a.ts';
  const reads = [{ asked: path, real: path, insideRoots: true }];
  const proof = { proven: true, reads } as const;
  return { tool: 'Bash', kind: 'execute', access, inToolSet: true, proof };
}

function times(work: (line: string) => unknown): readonly number[] {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    for (const line of LINES) {
      const startedAt = performance.now();
      work(line);
      if (round >= WARM_UP) samples.push(performance.now() - startedAt);
    }
  }
  return samples;
}
