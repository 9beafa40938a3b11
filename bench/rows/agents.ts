import { join } from 'node:path';
import { writeAgentFiles } from '../harness/agent-files.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import { printedNumber, programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 9;
const FILES = 2_000;

/** Loading many agent files, compared with reading them and parsing their front matter. */
export const agents: Row = {
  name: 'agents',
  async measure() {
    using fixture = new Fixture();
    const env = fixture.environment(fixture.newHome());
    const directory = join(fixture.workspace, '.claude', 'agents');
    writeAgentFiles(directory, FILES);
    const run = (args: readonly string[]) => runProgram(args, { cwd: fixture.workspace, env });
    const runs = await interleave(ROUNDS, {
      parse: () => run([programPath('parse-front-matter.mjs'), directory]),
      load: () => run([programPath('load-agents.ts'), fixture.workspace]),
    });
    const loaded = Math.min(...runs.load.map((one) => printedNumber(one, 'agents')));
    if (loaded !== FILES) throw new Error(`${loaded} agents were loaded instead of ${FILES}`);
    return [
      {
        title: `loading ${FILES.toLocaleString('en')} agent files`,
        unit: 'ms',
        samples: runs.load.map((one) => printedNumber(one, 'loadMs')),
        reference: {
          title: 'reading them and parsing their front matter with `yaml`',
          samples: runs.parse.map((one) => printedNumber(one, 'parseMs')),
        },
        bound: { kind: 'ratio', max: 1.5, goal: 1.25 },
      },
    ];
  },
};
