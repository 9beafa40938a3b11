import { argumentsSchema, ArgumentReader } from './argument-reader.ts';
import type { Answer } from '../../protocol/question.ts';
import { askForTool } from '../questions/ask-person.ts';
import type { JsonValue } from '../../base/json.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { decidePlanQuestion } from '../../policy/decide-question.ts';
import type { TaskRun } from '../task/task-run.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';

/** The input of ExitPlanMode. */
export interface ExitPlanModeInput {
  /** The plan in Markdown. */
  readonly plan: string;
}

/** The maximum length of a plan in UTF-16 units. A person has to read it before they answer. */
const MAX_LENGTH = 20_000;

/** Creates the tool that shows a plan to the user, who approves it, changes it, or rejects it. */
export function exitPlanModeTool(engine: EngineContext): Tool<ExitPlanModeInput> {
  return {
    name: 'ExitPlanMode',
    kind: 'meta',
    // A call that runs again after a crash finds its question, with the answer if there is one.
    replay: 'keyed',
    waits: () => true,
    description:
      'In plan mode: show the user your plan, and wait for their approval. Only then may anything be changed.',
    inputSchema: argumentsSchema(['plan'], {
      plan: { type: 'string', description: 'Markdown', maxLength: MAX_LENGTH },
    }),
    parse,
    run: (input, context) => presentPlan(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<ExitPlanModeInput> {
  const args = new ArgumentReader(value, ['plan']);
  const plan = args.text('plan', 'a text');
  if (plan.length > MAX_LENGTH) {
    args.issues.push(
      `plan: has ${plan.length} characters; at most ${MAX_LENGTH} are shown, so say it shorter`,
    );
  }
  return args.result({ plan });
}

function presentPlan(
  engine: EngineContext,
  { plan }: ExitPlanModeInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const caller = requireCaller(engine, context);
  return askForTool(engine.deps, caller, {
    callId: context.callId,
    content: plan,
    output: (answer, { isAsked }) => {
      const output = answer === null ? null : formatAnswer(caller, answer);
      const { mode } = caller.permissions.rights;
      if (output !== null || mode === 'plan') return output;
      return { text: isAsked ? formatUnanswered(mode) : 'Not in plan mode: go ahead.' };
    },
    refuse: decidePlanQuestion,
    createQuestion: (common) => ({ kind: 'plan', ...common, tool: 'ExitPlanMode', text: plan }),
  });
}

/**
 * Returns the output for the user's answer. The output names the present mode: an approval sets a mode, but the user
 * may have set another mode since.
 */
function formatAnswer(run: TaskRun, answer: Answer): ToolOutput | null {
  if (answer.kind === 'no') {
    const why = answer.reason === null ? '' : ` They say: ${answer.reason}`;
    return {
      text: `The user does not want this plan carried out. ${describeModeAfterNo(run)}${why}`,
      error: 'PERMISSION_DENIED',
    };
  }
  return answer.kind === 'approved' ? formatApproval(run, answer.plan) : null;
}

/**
 * Formats the output for a plan without an answer, when the task has left plan mode in another way, such as by the
 * approval of another plan.
 */
function formatUnanswered(mode: PermissionMode): string {
  return `The user has not answered to this plan. The mode is ${mode} now.`;
}

function describeModeAfterNo({ permissions }: TaskRun): string {
  const { mode } = permissions.rights;
  return mode === 'plan' ? 'Plan mode goes on: change nothing.' : `The mode is ${mode} now.`;
}

/**
 * Returns the output for an approval.
 *
 * @param changed the plan with the user's changes, or null if the user changed nothing
 */
function formatApproval({ permissions }: TaskRun, changed: string | null): ToolOutput {
  const { mode } = permissions.rights;
  const action = changed === null ? 'approved the plan' : 'changed the plan and approved it so';
  const plan = changed === null ? '' : `:\n\n${changed}`;
  const instruction =
    mode === 'plan'
      ? `and set plan mode again: change nothing yet${plan || '.'}`
      : `The mode is ${mode} now. Carry ${changed === null ? 'it' : 'this'} out${plan || '.'}`;
  return {
    text: `The user ${action}${mode === 'plan' ? ', ' : '. '}${instruction}`,
    isInstruction: true,
  };
}
