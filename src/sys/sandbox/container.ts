import type { Environment } from '../env.ts';

/** The switch by which the user says that the machine itself is the sandbox. */
const CONTAINER_SWITCH = '--sandbox container';

/** Properties of a machine by which a container is recognized. */
export interface ContainerIndicators {
  /** Existing files that only container engines create. */
  readonly markers: readonly string[];
  /** The content of /proc/1/cgroup; empty if it is not known. */
  readonly cgroups: string;
  readonly environment: Environment;
}

/**
 * Control groups that container engines create. They are visible if the container has no cgroup namespace of
 * its own.
 */
const CONTAINER_GROUP =
  /\/(?:docker|lxc|lxc\.payload[^/]*|kubepods(?:\.slice)?|libpod_parent|ecs|garden)\/|\b(?:docker|crio|libpod|cri-containerd)-[0-9a-f]{12}/;

/**
 * Tells whether a machine seems to be a container. The result only changes hints to the user and never allows
 * anything. Pure.
 */
export function isContainer({ markers, cgroups, environment }: ContainerIndicators): boolean {
  const engine = environment['container'] ?? '';
  const kubernetes = environment['KUBERNETES_SERVICE_HOST'] ?? '';
  return markers.length > 0 || engine !== '' || kubernetes !== '' || CONTAINER_GROUP.test(cgroups);
}

/** Extends the hint for a machine without a sandbox by the remedy that exists in containers. Pure. */
export function addContainerHint(hint: string, inContainer: boolean): string {
  return inContainer
    ? `${hint}; or, if this container is itself the sandbox, say so with ${CONTAINER_SWITCH}`
    : hint;
}
