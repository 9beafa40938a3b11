import type { Environment } from '../env.ts';

/** The switch that says that the machine itself is the sandbox. */
const CONTAINER_SWITCH = '--sandbox container';

/** What of a machine tells that it is a container. */
export interface ContainerIndicators {
  /** Files that are there, and that only container engines make. */
  readonly markers: readonly string[];
  /** /proc/1/cgroup; empty where it is not known. */
  readonly cgroups: string;
  readonly environment: Environment;
}

/** Control groups that container engines make; they are seen where the container has no namespace of its own for them. */
const CONTAINER_GROUP =
  /\/(?:docker|lxc|lxc\.payload[^/]*|kubepods(?:\.slice)?|libpod_parent|ecs|garden)\/|\b(?:docker|crio|libpod|cri-containerd)-[0-9a-f]{12}/;

/**
 * Whether a machine seems to be a container. Only what Muster offers depends on it: nothing runs because of it. Pure.
 */
export function isContainer({ markers, cgroups, environment }: ContainerIndicators): boolean {
  const engine = environment['container'] ?? '';
  const kubernetes = environment['KUBERNETES_SERVICE_HOST'] ?? '';
  return markers.length > 0 || engine !== '' || kubernetes !== '' || CONTAINER_GROUP.test(cgroups);
}

/** The remedy of a machine without a sandbox; in a container there is another one. Pure. */
export function addContainerHint(hint: string, inContainer: boolean): string {
  return inContainer
    ? `${hint}; or, if this container is itself the sandbox, say so with ${CONTAINER_SWITCH}`
    : hint;
}
