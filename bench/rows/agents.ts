import { join } from 'node:path';
import { writeAgentFiles } from '../harness/agent-files.ts';
import { interleave } from '../harness/interleave.ts';
import { Place } from '../harness/place.ts';
import { printedNumber, programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 9;
const FILES = 2_000;

/** Loading very many agent files, beside reading them and parsing their front matter. */
export const agents: Row = {
  name: 'agents',
  async measure() {
    using place = new Place();
    const env = place.environment(place.newHome());
    const directory = join(place.workspace, '.claude', 'agents');
    writeAgentFiles(directory, FILES);
    const run = (args: readonly string[]) => runProgram(args, { cwd: place.workspace, env });
    const runs = await interleave(ROUNDS, {
      parse: () => run([programPath('parse-front-matter.mjs'), directory]),
      load: () => run([programPath('load-agents.ts'), place.workspace]),
    });
    const loaded = Math.min(...runs.load.map((one) => printedNumber(one, 'agents')));
    if (loaded !== FILES) throw new Error(`${loaded} agents were loaded of ${FILES}`);
    return [
      {
        what: `loading ${FILES.toLocaleString('en')} agent files`,
        unit: 'ms',
        samples: runs.load.map((one) => printedNumber(one, 'loadMs')),
        floor: {
          what: 'reading them and parsing their front matter with `yaml`',
          samples: runs.parse.map((one) => printedNumber(one, 'parseMs')),
        },
        bound: { kind: 'ratio', most: 1.5, goal: 1.25 },
      },
    ];
  },
};
