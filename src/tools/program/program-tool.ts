import { resolve } from 'node:path';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { NO_ACCESS, type Access } from '../../protocol/permission.ts';
import type {
  ProgramTool,
  ProgramToolAccess,
  ProgramToolResult,
} from '../../protocol/program-tool.ts';
import type { Attachment } from '../../protocol/attachment.ts';
import type {
  Tool,
  ToolContext,
  ToolKind,
  ToolOutput,
  ValidationResult,
} from '../../protocol/tool.ts';
import { describeExcess, inspectAttachment } from '../attachments/inspect-file.ts';
import { failure } from '../shared/output.ts';
import { FileRecorder } from './file-recorder.ts';

/**
 * Creates Muster's tool for a tool of a program. Its calls are decided about, recorded, limited and replayed like those of
 * built-in tools. The changes of the files that it declares are recorded, with the former contents for a rewind.
 */
export function createProgramTool(tool: ProgramTool): Tool<unknown> {
  const { name, description, inputSchema, access } = tool;
  const kind = findKind(access);
  return {
    name,
    description,
    inputSchema,
    kind,
    replay: tool.replay ?? (kind === 'meta' || kind === 'read' ? 'pure' : 'opaque'),
    parse(input) {
      const parsed = tool.parse(input);
      return parsed.ok ? checkAccess(tool, parsed) : parsed;
    },
    describe: (input, { cwd }) => describeAccess(access, input, cwd),
    async run(input, context) {
      const declared = describeAccess(access, input, context.cwd);
      const recorder = new FileRecorder(declared, context);
      try {
        await recorder.keepFormerContents();
        const result = await tool.run(input, {
          taskId: context.taskId,
          callId: context.callId,
          cwd: context.cwd,
          signal: context.signal,
          progress: (line) => context.progress(line),
          resolve: (path) => resolveDeclared(path, context),
        });
        return { ...(await toOutput(result, context)), facts: await recorder.findChanges() };
      } catch (thrown) {
        const facts = await recorder.findChanges();
        if (context.signal.aborted) return failure('CANCELLED', `${name} was cancelled.`, facts);
        const code = thrown instanceof MusterError ? thrown.code : 'INTERNAL_ERROR';
        return failure(code, `${name} failed: ${errorMessage(thrown)}`, facts);
      }
    },
  };
}

/** Refuses a call for which the function of the program cannot say what it would touch. */
function checkAccess(
  { name, access }: ProgramTool,
  parsed: Extract<ValidationResult<unknown>, { ok: true }>,
): ValidationResult<unknown> {
  try {
    describeAccess(access, parsed.input, '/');
    return parsed;
  } catch (thrown) {
    return { ok: false, issues: [`the access of ${name} failed: ${errorMessage(thrown)}`] };
  }
}

/** Returns the kind by which permissions and scheduling treat the calls: that of the widest access. */
function findKind(access: ProgramTool['access']): ToolKind {
  if (access === undefined) return 'execute';
  if (access === 'none') return 'meta';
  if (access.commands !== undefined) return 'execute';
  if (access.hosts !== undefined) return access.writes === undefined ? 'network' : 'execute';
  return access.writes === undefined ? 'read' : 'edit';
}

function describeAccess(access: ProgramTool['access'], input: unknown, cwd: string): Access {
  if (access === 'none') return NO_ACCESS;
  if (access === undefined) return { ...NO_ACCESS, isInProcess: true };
  const list = (read: ProgramToolAccess['reads']): readonly string[] => {
    const named = read?.(input) ?? [];
    const texts = typeof named === 'string' ? [named] : named;
    if (!Array.isArray(texts) || !texts.every((each) => typeof each === 'string'))
      throw new TypeError('it must return a text or a list of texts');
    return texts;
  };
  const paths = (read: ProgramToolAccess['reads']) => list(read).map((path) => resolve(cwd, path));
  return {
    reads: paths(access.reads),
    writes: paths(access.writes),
    commands: list(access.commands),
    hosts: list(access.hosts),
    ...(access.onlyFetches === true ? { onlyFetches: true } : {}),
    isInProcess: true,
  };
}

function resolveDeclared(path: string, { cwd, judged }: ToolContext): string {
  const real = judged.get(resolve(cwd, path))?.real;
  if (real !== undefined) return real;
  throw new MusterError(
    'PERMISSION_DENIED',
    `${path} is not one of the paths that the access of the tool names`,
  );
}

async function toOutput(
  { text, images = [], isError = false }: ProgramToolResult,
  context: Pick<ToolContext, 'attach'>,
): Promise<ToolOutput> {
  const attachments: Attachment[] = [];
  const notes: string[] = [];
  for (const [index, image] of images.entries()) {
    const attached = await attachImage(Buffer.from(image), context);
    if (typeof attached === 'string') notes.push(`[image ${index + 1} is not shown: ${attached}]`);
    else attachments.push(attached);
  }
  return {
    text: [text, ...notes].filter((part) => part !== '').join('\n'),
    ...(isError ? { error: 'INTERNAL_ERROR' } : {}),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

/** Attaches an image to a result. Returns the reason if it cannot be shown. */
async function attachImage(
  bytes: Buffer,
  { attach }: Pick<ToolContext, 'attach'>,
): Promise<Attachment | string> {
  const details = inspectAttachment(bytes);
  if (typeof details === 'string') return details;
  return (
    describeExcess(details) ??
    (await attach?.add(details, bytes)) ??
    'attachments cannot be shown here'
  );
}
