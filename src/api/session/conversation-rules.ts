import { isAbsolute } from 'node:path';
import { applyRuleChange, type RuleChange } from '../../engine/permissions/change-rules.ts';
import type { Engine } from '../../engine/engine.ts';
import { workingDirectory, type Inbox, type StandingRules } from '../../engine/task/inbox.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { createRootRights, type RootGrant } from '../../policy/attenuate.ts';
import { addRestrictions } from '../../policy/conversation-rules.ts';
import { limitRightsToParent } from '../../policy/mode-grants.ts';
import type {
  PermissionMode,
  PermissionRule,
  Rights,
  RuleList,
} from '../../protocol/permission.ts';
import { computeResumedRights } from './resumed-rights.ts';
import type { TaskStore } from '../../store/task-store.ts';

/** The place that a rule comes from, and that decides what can be done with it. */
export type RuleOrigin =
  | 'conversation'
  | 'project'
  | 'user'
  | 'file'
  | 'flag'
  | 'variable'
  | 'definition'
  | 'built-in';

/** A rule that is in force for a task. */
export interface RuleInForce {
  readonly list: RuleList;
  /** The rule as its source spells it. */
  readonly text: string;
  readonly origin: RuleOrigin;
  /** The file with the line, the name of the flag, or the name of the agent. */
  readonly where: string;
}

/** The rules and the mode of a task. */
export interface TaskRules {
  readonly mode: PermissionMode;
  /** In the order of decisions: deny, ask, allow. */
  readonly rules: readonly RuleInForce[];
}

/** The parts of a session that know its rules. */
interface RuleParts {
  readonly engine: Pick<Engine, 'task'>;
  readonly grant: RootGrant;
  readonly inbox: Pick<Inbox, 'standingRules'>;
  /** The permission mode that a flag requests, or null. */
  readonly modeFlag: PermissionMode | null;
  readonly store: TaskStore;
}

/**
 * Lists the rules that are in force for a task. For a task that no process runs, these are the rules with which it would
 * continue.
 *
 * @param id the id of the task; null for a new conversation
 * @param initial the rules that the user has set for a new conversation
 */
export function listTaskRules(
  parts: RuleParts,
  id: string | null,
  initial: readonly RuleChange[],
): TaskRules {
  const { granted, rights } = id === null ? newRights(parts, initial) : readRights(parts, id);
  const standing = parts.inbox.standingRules?.list(workingDirectory(rights)) ?? [];
  const { allow, ask, deny } = rights.rules;
  return {
    mode: rights.mode,
    rules: [
      ...deny.map((rule) => describe('deny', rule)),
      ...ask.map((rule) => describe('ask', rule)),
      ...granted.map((rule) => describe('allow', rule)),
      ...standing.map(({ rule, scope }) => describe('allow', rule, scope)),
      ...allow.map((rule) => describe('allow', rule)),
    ],
  };
}

interface RightsAndGrants {
  readonly rights: Rights;
  /** The allow rules that the user has set for the conversation. */
  readonly granted: readonly PermissionRule[];
}

function newRights({ grant }: RuleParts, initial: readonly RuleChange[]): RightsAndGrants {
  const stores = { standing: null, directory: null, redact: (text: string) => text };
  const events = initial.flatMap((change) => applyRuleChange(change, null, stores));
  const restrictions = events.flatMap((event) => (event.type === 'rights.restricted' ? event : []));
  return {
    rights: addRestrictions(createRootRights(grant, null), restrictions),
    granted: events.flatMap((event) => (event.type === 'rights.granted' ? event.rule : [])),
  };
}

function readRights({ engine, grant, modeFlag, store }: RuleParts, id: string): RightsAndGrants {
  const run = engine.task(id);
  if (run !== undefined) {
    return { rights: run.permissions.rights, granted: run.permissions.granted() };
  }
  const state = foldLog(store, id);
  const { agent, rights: recorded, root } = state.spec;
  const top = root === id ? state : foldLog(store, root);
  const importedUpTo = store.importedUpTo(top.spec.id) ?? -1;
  const isOwned = store.getOwner(id) !== null;
  const isImported = store.isImported(id);
  const present = isOwned
    ? recorded
    : limitRightsToParent(
        recorded,
        computeResumedRights(recorded, { grant, modeFlag, isImported }),
        { definition: agent, grant: null },
      );
  return {
    rights: addRestrictions(present, top.restrictions),
    granted: top.granted.flatMap(({ rule, seq }) => (seq > importedUpTo ? [rule] : [])),
  };
}

function describe(
  list: RuleList,
  { source, text }: PermissionRule,
  origin = originOf(source),
): RuleInForce {
  return { list, text, origin, where: source.where };
}

function originOf({ kind, where }: PermissionRule['source']): RuleOrigin {
  switch (kind) {
    case 'config':
      return 'file';
    case 'flag':
      return 'flag';
    case 'env':
      return 'variable';
    case 'definition':
      return 'definition';
    case 'builtin':
      return 'built-in';
    case 'answer':
      // The source of a saved answer is the path of its file.
      return isAbsolute(where) ? 'user' : 'conversation';
  }
}

/**
 * Changes a rule that holds outside of conversations. Throws MusterError if the rule is wrong or cannot be stored.
 *
 * @param directory the working directory
 */
export function changeStandingRule(
  change: RuleChange,
  standing: StandingRules | null,
  directory: string,
): void {
  applyRuleChange(change, null, { standing, directory, redact: (text) => text });
}
