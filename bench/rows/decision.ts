import { decide } from '../../src/policy/decide.ts';
import type { ResolvedCall } from '../../src/policy/call.ts';
import type { DecisionContext } from '../../src/policy/decision-input.ts';
import { proveReadOnly } from '../../src/policy/shell/read-only/prove.ts';
import { parseRules } from '../../src/policy/rules/rules.ts';
import { parseShellLine } from '../../src/policy/shell/parse-line.ts';
import type { Rights } from '../../src/protocol/permission.ts';
import { EVERYDAY } from '../../test/policy/shell/read-only/everyday.ts';
import { NASTY } from '../../test/policy/shell/read-only/nasty.ts';
import type { Measurement } from '../harness/measurement.ts';
import type { Row } from '../harness/row.ts';
import { quantile } from '../harness/statistics.ts';

const ROUNDS = 40;
const WARM_UP = 4;
const LINES = [...EVERYDAY, ...NASTY];

/** The decision before each tool call, without the access to the disk. */
export const decision: Row = {
  name: 'decision',
  async measure(): Promise<readonly Measurement[]> {
    const rights = rightsWithRules();
    const judging = times((line) => proveReadOnly(line, parseShellLine));
    const deciding = times((line) => decide(callOf(line), rights, FACTS));
    const notes = [`${LINES.length} command lines, ${ROUNDS} times each`];
    const atMost = (limit: number) => ({ kind: 'max', max: limit, goal: limit }) as const;
    const p99 = [quantile(judging, 0.99)];
    return [
      { title: 'a decision', unit: 'ms', samples: deciding, bound: atMost(0.05), notes },
      { title: 'judging a command line', unit: 'ms', samples: judging, bound: atMost(1), notes },
      { title: 'judging a command line, p99', unit: 'ms', samples: p99, bound: atMost(5), notes },
    ];
  },
};

const FACTS: DecisionContext = {
  home: '/home/me',
  stateDirectories: ['/home/me/.config/muster'],
  shellParser: parseShellLine,
  isSandboxed: true,
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

function callOf(line: string): ResolvedCall {
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
