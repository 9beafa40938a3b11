import { plural } from '../../../../base/text.ts';
import { terminalText } from '../../../../base/terminal-text.ts';
import type { AgentProblem } from '../../../../protocol/agent.ts';
import { fail, ok, warn, type Check } from './check.ts';

/** What was found when agent definitions were loaded. */
export interface AgentsReport {
  readonly loaded: number;
  /** Files that could not be loaded. */
  readonly problems: readonly AgentProblem[];
  /** Files that gave none. */
  readonly skipped: readonly {
    readonly path: string;
    readonly code: string;
    readonly reason: string;
  }[];
}

export function agentChecks({ loaded, problems }: AgentsReport): readonly Check[] {
  return [
    loaded === 0
      ? fail(
          'agents',
          'none can be loaded, not even the built-in ones',
          'install the package again',
        )
      : ok('agents', `${plural(loaded, 'agent')} loaded`),
    ...problems.map(({ path, line, message }) => {
      const where = line === undefined ? path : `${path}:${line}`;
      return warn('agents', terminalText(`${where}: ${message}`, 'exact'), null);
    }),
  ];
}
