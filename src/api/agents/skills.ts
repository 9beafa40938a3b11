import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { discoverAgents } from '../../agents/discover.ts';
import { findAgent } from '../../agents/find.ts';
import { skillsBelow } from '../../agents/skills/below.ts';
import { discoverSkills, type DiscoveredSkills } from '../../agents/skills/discover.ts';
import {
  findingOf,
  lintSkill,
  type LintFacts,
  type SkillFinding,
} from '../../agents/skills/lint.ts';
import { listSkills, type SkillListings } from '../../agents/skills/listing.ts';
import { estimateTokens } from '../../base/token-estimate.ts';
import { readEnvironment } from '../../sys/env.ts';
import type { ListAgentsOptions } from './listings.ts';
import { redactFor } from '../setup/secrets.ts';
import { projectTrust } from '../../trust/project-trust.ts';
import { realDirectory, workspaceRoots } from '../setup/workspace.ts';
import { DEFAULT_AGENT } from '../../engine/task/task-arguments.ts';

export interface ListSkillsOptions extends ListAgentsOptions {
  /**
   * Absolute: every skill below this directory is looked at instead, wherever it lies. Nothing of it need
   * be trusted: nothing acts.
   */
  readonly below?: string;
}

/** The skills that could be used in a directory. Throws UsageError for a directory that is none. */
export async function listSkillsIn(options: ListSkillsOptions): Promise<SkillListings> {
  return listSkills(await findSkills(options), DEFAULT_AGENT);
}

async function findSkills(options: ListSkillsOptions): Promise<DiscoveredSkills> {
  const { below } = options;
  if (below !== undefined) return skillsBelow(realDirectory(below, '--dir'));
  return discoverSkills(placeOf(options));
}

export interface SkillChecks {
  /** How many skills were looked at, shadowed ones too. */
  readonly checked: number;
  /** By file, in search order. */
  readonly findings: readonly SkillFinding[];
  readonly errors: number;
  readonly warnings: number;
}

/** What is wrong with the skills of a directory. Throws as `listSkillsIn` does. */
export async function checkSkillsIn(options: ListSkillsOptions): Promise<SkillChecks> {
  const place = placeOf(options);
  const { skills, shadowed, problems } = await findSkills(options);
  const { agents } = await discoverAgents(place);
  const redact = redactFor(place.environment);
  const facts: LintFacts = {
    isAgent: (name) => findAgent(name, agents).ok,
    exists,
    holdsSecret: (text) => redact(text) !== text,
    tokens: estimateTokens,
  };
  const findings = [
    ...problems.map((problem) => findingOf(problem, 'error')),
    ...skills.flatMap((skill) => lintSkill(skill, facts)),
    ...shadowed.flatMap(({ skill, by }) => [
      {
        severity: 'warning' as const,
        code: 'shadowed',
        message: `${by} has the same name and goes first. Rename one of them.`,
        path: skill.path,
      },
      ...lintSkill(skill, facts),
    ]),
  ];
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return {
    checked: skills.length + shadowed.length,
    findings,
    errors,
    warnings: findings.length - errors,
  };
}

function placeOf(options: ListSkillsOptions) {
  const environment = options.environment ?? readEnvironment();
  const [cwd] = workspaceRoots(options.cwd, []);
  const { dataDir, trustProject: decision } = options;
  const home = environment['HOME'] || homedir();
  const state = { environment, home, cwd, ...(dataDir === undefined ? {} : { dataDir }) };
  const trust = projectTrust({ ...state, decision, onProblem: options.onNotice ?? (() => {}) });
  return { cwd, environment, trust };
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A name that is no path, or a folder that may not be entered: the skill's users get no further.
    return false;
  }
}
