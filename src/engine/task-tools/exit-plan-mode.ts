import { createHash } from 'node:crypto';
import type { JsonValue } from '../../base/json.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { decidePlanQuestion } from '../../policy/decide-question.ts';
import { askingTask, openQuestion } from '../questions/ask-person.ts';
import type { TaskRun } from '../task/task-run.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { ArgumentReader } from './argument-reader.ts';

export interface ExitPlanModeInput {
  /** Markdown. */
  readonly plan: string;
}

/** In UTF-16 units: what a person is to read before they answer. */
const MOST_LENGTH = 20_000;

/** Shows a plan to the person, who lets it be carried out, changes it, or says no. */
export function exitPlanModeTool(engine: EngineContext): Tool<ExitPlanModeInput> {
  return {
    name: 'ExitPlanMode',
    kind: 'meta',
    // Run again after a crash, it finds its question, and the answer where there is one.
    replay: 'keyed',
    waits: () => true,
    description:
      'In plan mode: show the user your plan, and wait for their approval. Only then may anything be changed.',
    inputSchema: {
      type: 'object',
      properties: { plan: { type: 'string', description: 'Markdown', maxLength: MOST_LENGTH } },
      required: ['plan'],
    },
    parse,
    run: (input, context) => present(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<ExitPlanModeInput> {
  const args = new ArgumentReader(value, ['plan']);
  const plan = args.text('plan', 'a text');
  if (plan.length > MOST_LENGTH) {
    args.issues.push(
      `plan: has ${plan.length} characters; at most ${MOST_LENGTH} are shown, so say it shorter`,
    );
  }
  return args.result({ plan });
}

async function present(
  engine: EngineContext,
  { plan }: ExitPlanModeInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { inbox } = engine.deps;
  const caller = requireCaller(engine, context);
  const digest = createHash('sha256').update(plan).digest('hex');
  const { tree, state } = caller;
  for (;;) {
    const outcome = outcomeOf(caller, { callId: context.callId, digest });
    if (outcome !== null) return outcome;
    const { mode } = caller.permissions.rights;
    if (mode !== 'plan') {
      const isOpen = state.questions.get(context.callId)?.digest === digest;
      return { text: isOpen ? unanswered(mode) : 'Not in plan mode: go ahead.' };
    }
    const refusal = decidePlanQuestion(askingTask(caller));
    if (refusal !== null) return { text: refusal, error: 'PERMISSION_DENIED' };
    const question = openQuestion(caller, { callId: context.callId, digest }, (id) => ({
      kind: 'plan',
      id,
      task: state.spec.id,
      callId: context.callId,
      chain: caller.chain(),
      tool: 'ExitPlanMode',
      text: plan,
    }));
    await tree.idleDetector.trackWait(() => inbox.wait(caller, question));
  }
}

/**
 * What the person's answer comes to; null: there is none yet. The mode that it gives was set with it: another one
 * that the person has set since holds.
 */
function outcomeOf(
  run: TaskRun,
  { callId, digest }: { readonly callId: string; readonly digest: string },
): ToolOutput | null {
  const asked = run.state.questions.get(callId);
  if (asked?.digest !== digest || asked.answer === null) return null;
  const { answer, seq } = asked.answer;
  if (!run.permissions.isTrusted(asked.seq) || !run.permissions.isTrusted(seq)) return null;
  if (answer.kind === 'no') {
    const why = answer.reason === null ? '' : ` They say: ${answer.reason}`;
    return {
      text: `The user does not want this plan carried out. ${modeAfterNo(run)}${why}`,
      error: 'PERMISSION_DENIED',
    };
  }
  return answer.kind === 'approved' ? approved(run, answer.plan) : null;
}

/** What else the person said has set the mode: the approval of another plan, say. */
function unanswered(mode: PermissionMode): string {
  return `The user has not answered to this plan. The mode is ${mode} now.`;
}

function modeAfterNo({
  permissions: {
    rights: { mode },
  },
}: TaskRun): string {
  return mode === 'plan' ? 'Plan mode goes on: change nothing.' : `The mode is ${mode} now.`;
}

/** `changed`: the plan as the person changed it; null: as it was shown. */
function approved(
  {
    permissions: {
      rights: { mode },
    },
  }: TaskRun,
  changed: string | null,
): ToolOutput {
  const what = changed === null ? 'approved the plan' : 'changed the plan and approved it so';
  const plan = changed === null ? '' : `:\n\n${changed}`;
  const how =
    mode === 'plan'
      ? `and set plan mode again: change nothing yet${plan || '.'}`
      : `The mode is ${mode} now. Carry ${changed === null ? 'it' : 'this'} out${plan || '.'}`;
  return {
    text: `The user ${what}${mode === 'plan' ? ', ' : '. '}${how}`,
    isInstruction: true,
  };
}
