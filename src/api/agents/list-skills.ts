import { statSync } from 'node:fs';
import { estimateTokens } from '../../base/token-estimate.ts';
import type { ListAgentsOptions } from './list-agents.ts';
import { openDefinitionLocation } from './load-agents.ts';
import { createEnvironmentRedactor } from '../setup/secrets.ts';
import { resolveDirectory } from '../setup/workspace.ts';
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
   * An absolute directory. If it is set, all skills below it are listed instead of the skills that can be used. The
   * files need not be trusted, because their content is only listed.
   */
  readonly below?: string;
}

/** Lists the skills that can be used in a directory. Throws UsageError if it is not a directory. */
export async function listSkillsIn(options: ListSkillsOptions): Promise<SkillListings> {
  return listSkills(await findSkills(options), DEFAULT_AGENT);
}

async function findSkills(options: ListSkillsOptions): Promise<DiscoveryResult<SkillDefinition>> {
  const { below } = options;
  if (below !== undefined) return scanSubtree(SKILLS, resolveDirectory(below, '--dir'));
  return discoverDefinitions(SKILLS, await openDefinitionLocation(options));
}

export interface SkillChecks {
  /** The number of checked skills, including shadowed skills. */
  readonly checked: number;
  /** The findings, grouped by file, in search order. */
  readonly findings: readonly SkillFinding[];
  readonly errors: number;
  readonly warnings: number;
}

/** Checks the skills of a directory. Throws as `listSkillsIn` does. */
export async function checkSkillsIn(options: ListSkillsOptions): Promise<SkillChecks> {
  const location = await openDefinitionLocation(options);
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
        message: `${by} has the same name and takes precedence. Rename one of them.`,
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
    // The name is not a valid path, or a directory must not be entered. A task could not open the file either.
    return false;
  }
}
