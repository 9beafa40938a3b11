import { statSync } from 'node:fs';
import { estimateTokens } from '../../base/token-estimate.ts';
import type { ListAgentsOptions } from './list-agents.ts';
import { openLocation } from './load-agents.ts';
import { createEnvironmentRedactor } from '../setup/secrets.ts';
import { realDirectory } from '../setup/workspace.ts';
import { findAgent } from '../../agents/find-agent.ts';
import {
  lintSkill,
  type SkillFinding,
  createSkillFinding,
  type SkillLintContext,
} from '../../agents/skills/lint-skill.ts';
import { listSkills, type SkillListings } from '../../agents/skills/list-skills.ts';
import { SKILLS, AGENTS } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { scanSubtree } from '../../agents/loader/subtree-scan.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { DEFAULT_AGENT } from '../../engine/task/task-arguments.ts';

export interface ListSkillsOptions extends ListAgentsOptions {
  /**
   * An absolute directory. Every skill below it is listed instead. The files need not be trusted, since nothing in
   * them has an effect.
   */
  readonly below?: string;
}

/** Lists the skills that can be used in a directory. Throws UsageError if it is not a directory. */
export async function listSkillsIn(options: ListSkillsOptions): Promise<SkillListings> {
  return listSkills(await findSkills(options), DEFAULT_AGENT);
}

async function findSkills(options: ListSkillsOptions): Promise<DiscoveryResult<SkillDefinition>> {
  const { below } = options;
  if (below !== undefined) return scanSubtree(SKILLS, realDirectory(below, '--dir'));
  return discoverDefinitions(SKILLS, openLocation(options));
}

export interface SkillChecks {
  /** The number of checked skills, shadowed ones included. */
  readonly checked: number;
  /** By file, in search order. */
  readonly findings: readonly SkillFinding[];
  readonly errors: number;
  readonly warnings: number;
}

/** Checks the skills of a directory. Throws as `listSkillsIn` does. */
export async function checkSkillsIn(options: ListSkillsOptions): Promise<SkillChecks> {
  const location = openLocation(options);
  const { items: skills, shadowed, problems } = await findSkills(options);
  const { items: agents } = await discoverDefinitions(AGENTS, location);
  const redact = createEnvironmentRedactor(location.environment);
  const facts: SkillLintContext = {
    isAgent: (name) => findAgent(name, agents).ok,
    exists,
    holdsSecret: (text) => redact(text) !== text,
    tokens: estimateTokens,
  };
  const findings = [
    ...problems.map((problem) => createSkillFinding(problem, 'error')),
    ...skills.flatMap((skill) => lintSkill(skill, facts)),
    ...shadowed.flatMap(({ item: skill, by }) => [
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

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A name that is no path, or a folder that may not be entered: the skill's users get no further.
    return false;
  }
}
