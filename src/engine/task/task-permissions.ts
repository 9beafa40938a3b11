import { addRestrictions, dropInheritedRestrictions } from '../../policy/conversation-rules.ts';
import { findModeGrant, dropRevokedGrant, limitRightsToParent } from '../../policy/mode-grants.ts';
import type { ModeGrant, PermissionRule, Rights } from '../../protocol/permission.ts';
import type { Restriction } from '../../protocol/state/questions.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskSpec } from '../../protocol/task.ts';

/** A task in its present state. */
interface TaskNow {
  readonly spec: TaskSpec;
  readonly state: TaskState;
}

/** The parts of `TaskPermissions`. */
export interface TaskPermissionsParts {
  readonly task: TaskNow;
  /** The permissions of the parent; null for a task without one. */
  readonly parent: TaskPermissions | null;
  /** The mode grants that hold in every conversation of this user. */
  readonly userGrants: () => readonly ModeGrant[];
  /**
   * The number of the last imported event of the log; -1 if nothing was imported. Grants and answers in imported
   * events were not given on this machine and do not count.
   */
  readonly importedUpTo: number;
}

/**
 * The present permissions of a task: its own rights, narrowed by the rights of each task above it, and the approvals
 * that the user has given since the task was created. The rights are read at every call, so the last result is
 * cached.
 */
export class TaskPermissions {
  private readonly parts: TaskPermissionsParts;
  private cachedRecorded: Rights | null = null;
  private cachedRestrictions: readonly Restriction[] | null = null;
  private cachedRestricted: Rights | null = null;
  private cachedOwn: Rights | null = null;
  private cachedAbove: Rights | null = null;
  private cachedGrant: ModeGrant | null = null;
  private cachedRights: Rights | null = null;

  constructor(parts: TaskPermissionsParts) {
    this.parts = parts;
  }

  get rights(): Rights {
    const { task, parent } = this.parts;
    const own = this.restrictedRights;
    const above = parent?.rights ?? null;
    const withoutGrant = task.state.modeWithoutGrant;
    if (above === null && withoutGrant === null) return own;
    const grant = this.modeGrant;
    const isSame =
      own === this.cachedOwn && above === this.cachedAbove && grant === this.cachedGrant;
    if (this.cachedRights !== null && isSame) return this.cachedRights;
    this.cachedOwn = own;
    this.cachedAbove = above;
    this.cachedGrant = grant;
    this.cachedRights =
      above === null
        ? dropRevokedGrant(own, withoutGrant, grant)
        : limitRightsToParent(own, above, { definition: task.spec.agent, grant });
    return this.cachedRights;
  }

  /**
   * The recorded rights with the ask and deny rules that the user has set for this task since. Those of the tasks above
   * are in the rights of the parent.
   */
  private get restrictedRights(): Rights {
    const { task, parent } = this.parts;
    const { rights } = task.spec;
    const { restrictions } = task.state;
    const isSame = rights === this.cachedRecorded && restrictions === this.cachedRestrictions;
    if (this.cachedRestricted !== null && isSame) return this.cachedRestricted;
    this.cachedRecorded = rights;
    this.cachedRestrictions = restrictions;
    const recorded = parent === null ? rights : dropInheritedRestrictions(rights);
    this.cachedRestricted = addRestrictions(recorded, restrictions);
    return this.cachedRestricted;
  }

  /**
   * The number of changes of rules, for this task and the tasks above it, that may forbid a call which was allowed
   * before.
   */
  get narrowingCount(): number {
    const { task, parent } = this.parts;
    return task.state.narrowingCount + (parent?.narrowingCount ?? 0);
  }

  /**
   * The user's grant of a mode to the agent of this task; null if there is none. The granted mode replaces the
   * parent's mode.
   */
  get modeGrant(): ModeGrant | null {
    const { spec } = this.parts.task;
    return spec.depth === 0 ? null : findModeGrant(spec.agent, this.modeGrants());
  }

  /** Returns all grants of modes to agents that hold in this conversation. */
  modeGrants(): readonly ModeGrant[] {
    const { parent, task, userGrants } = this.parts;
    const above = parent?.modeGrants() ?? userGrants();
    const recorded = task.state.modeGrants;
    if (recorded.length === 0) return above;
    return [
      ...above,
      ...recorded.flatMap(({ grant, seq }) => (this.isTrusted(seq) ? [grant] : [])),
    ];
  }

  /**
   * Returns the rules that the user has granted to this task, and to the tasks above it, since they were created, also those
   * of a slash command for its turn.
   */
  granted(): readonly PermissionRule[] {
    const { parent, task } = this.parts;
    const { granted, turnRules } = task.state;
    const own = [...granted, ...turnRules].flatMap(({ rule, seq }) =>
      this.isTrusted(seq) ? [rule] : [],
    );
    const above = parent?.granted() ?? [];
    return own.length === 0 ? above : [...own, ...above];
  }

  /** Returns true when the event with this number was written on this machine, so that an approval in it counts. */
  isTrusted(seq: number): boolean {
    return seq > this.parts.importedUpTo;
  }
}

/** The permissions of a calling task that a decision about its call needs. */
export type CallerPermissions = Pick<
  TaskPermissions,
  'granted' | 'isTrusted' | 'modeGrants' | 'rights'
>;

/** Returns the same permissions with other rights, for a task that is planned and does not run yet. */
export function permissionsWith(permissions: CallerPermissions, rights: Rights): CallerPermissions {
  return {
    rights,
    granted: () => permissions.granted(),
    modeGrants: () => permissions.modeGrants(),
    isTrusted: (seq) => permissions.isTrusted(seq),
  };
}
