import { toAbsolutePath } from '../../sys/files/paths.ts';
import { NO_ACCESS, type Access } from '../../protocol/permission.ts';
import { REMOTE_CHANGES, REMOTE_STEP } from '../../protocol/tool-names.ts';
import type { AnyTool, CommandObservation } from '../../protocol/tool.ts';
import { plural } from '../../base/text.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';

/** The tools of remote agents, and the end of a task that has them. */
export interface RemoteTools {
  readonly tools: readonly AnyTool[];
  /** Forgets what was observed for a task. */
  endTask(id: string): void;
}

/** The kinds of steps that only look at files, as the program says. */
const READING_KINDS: ReadonlySet<string> = new Set(['read', 'search']);

/** The arguments of a step that say what it touches. */
interface StepClaim {
  readonly kind?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly command?: string | undefined;
  readonly url?: string | undefined;
}

/**
 * Describes what a step touches, as the program says. The kind of a step may be wrong, so its files count as written
 * unless the program says that it reads them, and as read in any case.
 */
function describeClaim(
  { kind = 'unknown', paths = [], command, url }: StepClaim,
  { cwd }: { readonly cwd: string },
): Access {
  const files = paths.map((path) => toAbsolutePath(path, cwd));
  const host = url === undefined ? null : URL.parse(url);
  return {
    ...NO_ACCESS,
    isClaimed: true,
    reads: files,
    writes: READING_KINDS.has(kind) ? [] : files,
    commands: command === undefined ? [] : [command],
    hosts: host === null || host.hostname === '' ? [] : [host.hostname],
  };
}

/** Creates the tools of remote agents. The changes of each task's program are observed from its start on. */
export function createRemoteTools(): RemoteTools {
  const observations = new Map<string, CommandObservation>();
  const step = defineBuiltinTool({
    name: REMOTE_STEP,
    kind: 'execute',
    replay: 'opaque',
    ownWords: true,
    description: 'Let the program of a remote agent do something itself.',
    input: {
      type: 'object',
      properties: {
        step: { type: 'string' },
        /** The program that starts; absent for a step of a program that runs. */
        program: { type: 'string' },
        kind: { type: 'string' },
        paths: { type: 'array', items: { type: 'string' } },
        command: { type: 'string' },
        url: { type: 'string' },
        edits: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              path: { type: 'string' },
              before: { type: 'string', emptyIsValue: true },
              after: { type: 'string', emptyIsValue: true },
            },
            required: ['path', 'after'],
          },
        },
        details: { type: 'string' },
      },
      required: ['step'],
    },
    describe: (input, { cwd }) =>
      input.program === undefined ? describeClaim(input, { cwd }) : NO_ACCESS,
    proposes: ({ edits = [] }, { cwd }) =>
      edits.map(({ path, before = null, after }) => ({
        path: toAbsolutePath(path, cwd),
        before,
        after,
        everywhere: false,
      })),
    async run({ program }, { changes, taskId }) {
      if (program === undefined) return { text: 'Allowed. The program does it itself.' };
      observations.get(taskId)?.cancel();
      const observation = await changes?.begin({ inBackground: true });
      if (observation !== undefined) observations.set(taskId, observation);
      return { text: 'Allowed. The program starts, and may change files and run commands itself.' };
    },
  });
  const changes = defineBuiltinTool({
    name: REMOTE_CHANGES,
    kind: 'read',
    replay: 'pure',
    ownWords: true,
    description: 'Find what the program of a remote agent has changed itself.',
    input: { type: 'object', properties: {}, required: [] },
    describe: () => NO_ACCESS,
    async run(_input, { changes: port, taskId }) {
      const found = await observations.get(taskId)?.end();
      observations.delete(taskId);
      const next = await port?.begin({ inBackground: true });
      if (next !== undefined) observations.set(taskId, next);
      if (found === undefined) return { text: 'What the program has changed itself is not known.' };
      const { changed, unlisted } = found;
      const more = unlisted.length === 0 ? '' : ', and files that are not listed one by one';
      return {
        text: `The program has changed ${plural(changed.length, 'file')} itself${more}.`,
        facts: { changed, ...(unlisted.length === 0 ? {} : { unlisted }) },
      };
    },
  });
  return {
    tools: [step, changes],
    endTask(id) {
      observations.get(id)?.cancel();
      observations.delete(id);
    },
  };
}
