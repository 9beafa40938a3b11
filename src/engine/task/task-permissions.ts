import { findModeGrant, dropRevokedGrant, limitRightsToParent } from '../../policy/mode-grants.ts';
import type { ModeGrant, PermissionRule, Rights } from '../../protocol/permission.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskSpec } from '../../protocol/task.ts';

/** A task in its present state. */
interface TaskNow {
  readonly spec: TaskSpec;
  readonly state: TaskState;
}

export interface TaskPermissionsParts {
  readonly task: TaskNow;
  /** The permissions of the parent; null for a task without one. */
  readonly parent: TaskPermissions | null;
  /** The grants that hold in every conversation of this user. */
  readonly userGrants: () => readonly ModeGrant[];
  /**
   * The number of the last event that was imported from elsewhere: grants and answers up to there were not given
   * here and do not count. -1 when the whole log was written here.
   */
  readonly importedUpTo: number;
}

/**
 * The present permissions of a task: its own rights, cut by the rights of each task above it, and the user's
 * approvals since it was created. Rights are read at every call, so the last result is cached.
 */
export class TaskPermissions {
  private readonly parts: TaskPermissionsParts;
  private own: Rights | null = null;
  private above: Rights | null = null;
  private grant: ModeGrant | null = null;
  private cut: Rights | null = null;

  constructor(parts: TaskPermissionsParts) {
    this.parts = parts;
  }

  get rights(): Rights {
    const { task, parent } = this.parts;
    const own = task.spec.rights;
    const above = parent?.rights ?? null;
    const withoutGrant = task.state.modeWithoutGrant;
    if (above === null && withoutGrant === null) return own;
    const grant = this.modeGrant;
    const isSame = own === this.own && above === this.above && grant === this.grant;
    if (this.cut !== null && isSame) return this.cut;
    this.own = own;
    this.above = above;
    this.grant = grant;
    this.cut =
      above === null
        ? dropRevokedGrant(own, withoutGrant, grant)
        : limitRightsToParent(own, above, { definition: task.spec.agent, grant });
    return this.cut;
  }

  /** The user's grant of a mode to this task's agent, which replaces the mode of its parent; null for none. */
  get modeGrant(): ModeGrant | null {
    const { spec } = this.parts.task;
    return spec.depth === 0 ? null : findModeGrant(spec.agent, this.modeGrants());
  }

  /** All modes that the user grants to agents, in this conversation or in every one. */
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

  /** The rules that the user has allowed to this task and to those above it since they were created. */
  granted(): readonly PermissionRule[] {
    const { parent, task } = this.parts;
    const own = task.state.granted.flatMap(({ rule, seq }) => (this.isTrusted(seq) ? [rule] : []));
    const above = parent?.granted() ?? [];
    return own.length === 0 ? above : [...own, ...above];
  }

  /** Returns true when the event with this number was written here, so that an approval in it counts. */
  isTrusted(seq: number): boolean {
    return seq > this.parts.importedUpTo;
  }
}

/** The permissions of a calling task that a decision about its call needs. */
export type CallerPermissions = Pick<
  TaskPermissions,
  'granted' | 'isTrusted' | 'modeGrants' | 'rights'
>;

/** The same permissions with other rights, for a task that is planned and does not run yet. */
export function permissionsWith(of: CallerPermissions, rights: Rights): CallerPermissions {
  return {
    rights,
    granted: () => of.granted(),
    modeGrants: () => of.modeGrants(),
    isTrusted: (seq) => of.isTrusted(seq),
  };
}
