import { truncate } from '../base/text.ts';
import { isInside } from '../base/path-inside.ts';
import type { Decision, Rights } from '../protocol/permission.ts';
import {
  listPaths,
  type CallPath,
  type PathRisk,
  type ResolvedAccess,
  type ResolvedCall,
} from './call.ts';
import { hasCallEffect, isProvable, type DecisionInput } from './decision-input.ts';
import { toWorkspacePath } from '../protocol/workspace-paths.ts';
import { isProtectedPath } from './protected-paths.ts';
import { couldCommandMatch } from './rules/command-rules.ts';
import { printRule } from './rules/rules.ts';
import { staysInWorktree } from './shell/worktree-git.ts';
import { isAddress, matchesDomain } from './rules/specifiers.ts';
import { coversWholeTool, isToolDisallowed, ruleCovers } from './rules/tool-cover.ts';
import { suggestModeFlag } from './suggest-rule.ts';
import { isSecretPath } from '../sys/files/secret-paths.ts';
import { isSettableByTask } from '../sys/processes/command-environment.ts';

/** Applies the restrictions that no allow rule and no mode can lift. The name of this step in decisions is `floor`. */
export function checkHardRules(input: DecisionInput): Decision | undefined {
  return (
    checkProofLimit(input) ??
    checkPlanMode(input) ??
    checkVariables(input.call) ??
    checkWorktreeGit(input) ??
    checkGuardedPaths(input, input.call.access) ??
    checkRoots(input.call, input.rights) ??
    checkAddresses(input)
  );
}

/**
 * Checks hosts that are addresses: `localhost` and IP addresses. Behind them are servers of this machine or of its
 * network, which trust whoever can reach them, so a rule for all hosts does not cover them.
 */
function checkAddresses({ call, rights }: DecisionInput): Decision | undefined {
  const { tool, access } = call;
  const naming = rights.rules.allow.filter(
    (rule) => ruleCovers(rule, tool, 'widen') && !coversWholeTool(rule),
  );
  const unnamed = access.hosts.find(
    (host) =>
      isAddress(host) && !naming.some(({ specifier = '' }) => matchesDomain(specifier, host)),
  );
  if (unnamed === undefined) return undefined;
  return {
    verdict: 'ask',
    step: 'floor',
    reason: `${unnamed} is an address and not a name. Only a rule that names it or a person can allow it.`,
    wouldAllow: printRule({ tool, specifier: `domain:${unnamed}` }),
  };
}

function checkProofLimit({ call: { proof } }: DecisionInput): Decision | undefined {
  if (proof?.proven !== false || proof.isOverLimit !== true) return undefined;
  return { verdict: 'deny', step: 'floor', reason: `The command is refused: ${proof.reason}.` };
}

function checkPlanMode(input: DecisionInput): Decision | undefined {
  const { call, rights } = input;
  if (rights.mode !== 'plan' || !hasCallEffect(call)) return undefined;
  const reason = explainPlanRefusal(input);
  if (reason === undefined) return checkHardRulesOfReads(input);
  const wouldAllow = suggestModeFlag(call, rights);
  return {
    verdict: 'deny',
    step: 'floor',
    reason,
    ...(isProvable(call) ? { instead: READ_INSTEAD } : {}),
    ...(wouldAllow === undefined ? {} : { wouldAllow }),
  };
}

const READ_INSTEAD =
  'To look at files use Read, Glob and Grep, or a plain command that only reads. Skip everything else, and say in your answer what you skipped.';

/** Explains why plan mode refuses a call. Returns undefined if the call is proved to change nothing, and
 * the agent may read what the call reads. */
function explainPlanRefusal({ call, rights }: DecisionInput): string | undefined {
  const { proof } = call;
  if (!isProvable(call)) return `Plan mode changes nothing, and ${call.tool} could.`;
  if (proof?.proven !== true) {
    const reason = proof?.reason ?? 'it was not checked';
    return `Plan mode runs only commands that are proved to change nothing, and this one is not: ${reason}.`;
  }
  return proof.reads.length > 0 && isToolDisallowed(rights, 'Read')
    ? 'Read is disallowed for this agent, and the command reads.'
    : undefined;
}

/**
 * Refuses variables that affect the behavior of programs: they would change the meaning of commands that were allowed
 * without them.
 */
function checkVariables({ access: { variables = [] } }: ResolvedCall): Decision | undefined {
  const name = variables.find((each) => !isSettableByTask(each));
  if (name === undefined) return undefined;
  return {
    verdict: 'deny',
    step: 'floor',
    reason: `${name} says where programs, code or settings come from, or belongs to Muster, so it cannot be set for later commands.`,
    instead: `Set it in the one command that needs it (${name}=… command); the permission rules then decide on that command.`,
  };
}

/**
 * Checks git commands of a task in a workspace. Its worktree shares branches, settings and stashes with the working tree
 * of the user, and without a sandbox nothing else protects them.
 */
function checkWorktreeGit({ call, rights, context, subject }: DecisionInput): Decision | undefined {
  if (rights.workspace === undefined || context.isSandboxed) return undefined;
  if (call.proof?.proven === true) return undefined;
  const risky = subject
    .parseCommands()
    .find(
      (each) =>
        couldCommandMatch('git:*', each) &&
        (each.parsed === null || !staysInWorktree(each.parsed.reading)),
    );
  if (risky === undefined) return undefined;
  return askPersonOnly(
    `${JSON.stringify(truncate(risky.line, 200))} could change the repository outside of the worktree, and there is no sandbox`,
  );
}

/**
 * Checks the files that a command is known to read as if the tool Read read them: guarded paths and workspace roots.
 */
export function checkHardRulesOfReads(input: DecisionInput): Decision | undefined {
  const call = input.asRead?.call;
  return call === undefined
    ? undefined
    : (checkGuardedPaths(input, call.access) ?? checkRoots(call, input.rights));
}

/** Tools whose paths are directories. The path of Bash is the directory in which its command runs. */
const DIRECTORY_TOOLS: ReadonlySet<string> = new Set(['LS', 'Glob', 'Bash']);

function checkRoots(
  { tool, access }: ResolvedCall,
  { workspace }: Pick<Rights, 'workspace'>,
): Decision | undefined {
  const outside = listPaths(access).find((path) => !path.insideRoots);
  if (outside === undefined) return undefined;
  const { real } = outside;
  const reason = `${quotePath(outside)} is outside the workspace roots. No rule or mode allows that; only a person can, for one call.`;
  if (workspace !== undefined && isInside(workspace.source, real)) {
    const here = JSON.stringify(toWorkspacePath(real, workspace));
    const instead = `This task works in its own worktree, where that path is ${here}: use it.`;
    return { verdict: 'ask', step: 'floor', reason, instead };
  }
  const directory = DIRECTORY_TOOLS.has(tool) ? real : parentDirectory(real);
  return {
    verdict: 'ask',
    step: 'floor',
    reason,
    wouldAllow: `--add-dir ${JSON.stringify(directory)}`,
  };
}

function checkGuardedPaths(
  { rights, context }: DecisionInput,
  access: ResolvedAccess,
): Decision | undefined {
  const { roots, workspace } = rights;
  const scope = { roots, workspace, stateDirectories: context.stateDirectories };
  const isProtected = (path: string): boolean => isProtectedPath(path, scope);
  const guarded = access.writes.find((path) => someOfBoth(path, isProtected));
  if (guarded !== undefined) return askPersonOnly(`${quotePath(guarded)} is a protected path`);
  const paths = listPaths(access);
  const secret = paths.find((path) => someOfBoth(path, isSecretPath));
  if (secret !== undefined) return askPersonOnly(`${quotePath(secret)} usually holds secrets`);
  const risky = paths.find(({ risk }) => risk !== undefined);
  return risky?.risk === undefined
    ? undefined
    : askPersonOnly(`${quotePath(risky)} ${PATH_RISK_TEXTS[risky.risk]}`);
}

/** Predicates of sentences about paths with a risk. The subject of the sentence is the path. */
export const PATH_RISK_TEXTS: Readonly<Record<PathRisk, string>> = {
  other_names: 'has other names (hard links), which may lie outside the workspace',
  git_directory: 'lies in a git directory, whose config and hooks git obeys',
  obeyed_by_git: 'is used by git: its configuration includes it or names it as a place for hooks',
};

function askPersonOnly(problem: string): Decision {
  const reason = `${problem}: only a person can allow it, for one call; no rule or mode does.`;
  return { verdict: 'ask', step: 'floor', reason };
}

function someOfBoth(path: CallPath, test: (path: string) => boolean): boolean {
  return test(path.asked) || (path.real !== path.asked && test(path.real));
}

/** Quotes a path, so that a hostile name remains one word on one line. */
function quotePath({ asked, real }: CallPath): string {
  const quoted = JSON.stringify(truncate(asked, 200));
  return asked === real ? quoted : `${quoted} (really ${JSON.stringify(truncate(real, 200))})`;
}

function parentDirectory(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}
