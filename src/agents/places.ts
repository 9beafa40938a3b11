import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../sys/env.ts';
import { projectDirectories } from '../sys/project-directories.ts';
import { claudeFormat } from './formats/claude.ts';
import type { AgentFormat } from './formats/format.ts';
import { genFormat, musterFormat, subagentFormat } from './formats/muster.ts';

/** One row of the search order: where a vendor's agents lie. */
interface PlaceRow {
  readonly format: AgentFormat;
  /** Below each directory from the working directory up to the repository's root. */
  readonly project: string;
  /** The user's own directory. */
  readonly user?: (user: UserDirectories) => string;
}

interface UserDirectories {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or `.config` in the home directory. */
  readonly config: string;
}

/** SPEC "Agent definitions", search order: a row's project places, nearest first, then its user's. */
const ROWS: readonly PlaceRow[] = [
  {
    format: musterFormat,
    project: '.muster/agents',
    user: ({ config }) => join(config, 'muster', 'agents'),
  },
  { format: genFormat, project: '.gen/agents', user: ({ home }) => join(home, '.gen', 'agents') },
  {
    format: claudeFormat,
    project: '.claude/agents',
    user: ({ home }) => join(home, '.claude', 'agents'),
  },
  { format: subagentFormat, project: 'data/subagents' },
  { format: subagentFormat, project: 'subagents' },
];

/** A directory to look in. It need not exist. */
export interface Place {
  readonly format: AgentFormat;
  readonly scope: 'project' | 'user';
  readonly directory: string;
  /** No file outside this directory is read, wherever a link leads. */
  readonly boundary: string;
}

/** Every place to look in, first wins. `cwd` is absolute. Looks for `.git`, and nothing else. */
export function agentPlaces(cwd: string, environment: Environment): readonly Place[] {
  const user = userDirectories(environment);
  const chain = projectDirectories(cwd);
  const root = chain.at(-1) ?? cwd;
  const userPlaces = new Set(ROWS.map((row) => row.user?.(user)));
  return ROWS.flatMap(({ format, project, user: userPlace }) => {
    const places = chain
      .map((directory) => join(directory, project))
      // A home directory that is a repository is still the user's own.
      .filter((directory) => !userPlaces.has(directory))
      .map((directory): Place => ({ format, scope: 'project', directory, boundary: root }));
    const directory = userPlace?.(user);
    if (directory === undefined) return places;
    const boundary = directory.startsWith(join(user.home, '/')) ? user.home : user.config;
    return places.concat({ format, scope: 'user', directory, boundary });
  });
}

function userDirectories(environment: Environment): UserDirectories {
  const home = environment['HOME'] || homedir();
  const config = environment['XDG_CONFIG_HOME'];
  // A relative path there is to be ignored, says the XDG specification.
  const usable = config !== undefined && isAbsolute(config);
  return { home, config: usable ? config : join(home, '.config') };
}
