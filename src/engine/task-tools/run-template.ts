import { missingFields, parseBody, renderPrompt } from '../../agents/templates/render.ts';
import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { TemplateDefinition, TemplateItem } from '../../protocol/template.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { calledTypes } from '../delegation/called-types.ts';
import { outcomeOfChild, startChild } from '../delegation/delegation.ts';
import { fullResult, endNoticeId } from '../results/result.ts';
import { flagsText } from '../../receipts/answer-flags.ts';
import { receiptParts } from '../../receipts/receipt-line.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { Arguments } from './arguments.ts';
import { callerOf } from './caller.ts';
import type { TaskInput } from '../task/task-input.ts';

export interface RunTemplateInput {
  readonly template: string;
  readonly items: readonly TemplateItem[];
}

/** Items of one call. */
const MOST_ITEMS = 200;
/** UTF-16 units of what all items together tell of their results, and of each at most. */
const RESULTS_LENGTH = 20_000;
const RESULT_LENGTH = 300;
/** Templates that the description names, and code points of what it says of each. */
const SHOWN_TEMPLATES = 20;
const SHOWN_DESCRIPTION = 80;

/** Runs a template over items, each as a child of the caller; its output is a table with their ids. */
export function runTemplateTool(engine: EngineContext): Tool<RunTemplateInput> {
  const templates = engine.deps.templates ?? [];
  return {
    name: 'RunTemplate',
    kind: 'delegate',
    // Run again after a crash, it finds the children that it made.
    replay: 'keyed',
    waits: () => true,
    description: `Run a template over items: a subagent each, in parallel. Gives a table; TaskOutput has each whole result. Templates: ${templateList(templates)}`,
    inputSchema: {
      type: 'object',
      properties: {
        template: { type: 'string' },
        items: {
          type: 'array',
          maxItems: MOST_ITEMS,
          description: 'Texts, or objects with the fields that the template names',
          items: { type: ['string', 'object'] },
        },
      },
      required: ['template', 'items'],
    },
    parse,
    describe: ({ template }) => {
      const found = named(template, templates);
      if (found === undefined) return NO_ACCESS;
      const [agent, ...agentWords] = calledTypes(engine, wishOf(found, ''));
      return agent === undefined ? NO_ACCESS : { ...NO_ACCESS, agent, agentWords };
    },
    run: (input, context) => runTemplate(engine, templates, { input, context }),
  };
}

function templateList(templates: readonly TemplateDefinition[]): string {
  const shown = templates
    .slice(0, SHOWN_TEMPLATES)
    .map(
      ({ name, description }) =>
        `${name} (${truncate(collapseWhitespace(description), SHOWN_DESCRIPTION)})`,
    );
  const more = templates.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

function named(
  name: string,
  templates: readonly TemplateDefinition[],
): TemplateDefinition | undefined {
  const wanted = name.toLowerCase();
  return templates.find((each) => each.name.toLowerCase() === wanted);
}

function parse(value: JsonValue): ValidationResult<RunTemplateInput> {
  const args = new Arguments(value, ['template', 'items']);
  const template = args.text('template', 'the name of a template');
  const items = itemsIn(isJsonObject(value) ? value['items'] : undefined);
  if (items === undefined) {
    args.issues.push(`items: must be a list of 1 to ${MOST_ITEMS} texts or objects`);
  }
  return args.result({ template, items: items ?? [] });
}

function itemsIn(value: JsonValue | undefined): readonly TemplateItem[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ITEMS) return undefined;
  const items = value.filter(
    (each: JsonValue): each is TemplateItem => typeof each === 'string' || isJsonObject(each),
  );
  return items.length === value.length ? items : undefined;
}

interface TemplateCall {
  readonly input: RunTemplateInput;
  readonly context: ToolContext;
}

async function runTemplate(
  engine: EngineContext,
  templates: readonly TemplateDefinition[],
  { input, context }: TemplateCall,
): Promise<ToolOutput> {
  const caller = callerOf(engine, context);
  const prompts = promptsOf(input, templates);
  if (prompts instanceof MusterError) {
    return { text: `RunTemplate: ${prompts.message}`, error: prompts.code };
  }
  const started: (string | MusterError)[] = [];
  for (const [index, item] of prompts.entries()) {
    // Made one after another: each counts towards the limits of the next.
    const callId = `${context.callId}/${index}`;
    started.push(await startChild(engine, { caller, callId, input: item }));
  }
  const most = Math.min(RESULT_LENGTH, Math.floor(RESULTS_LENGTH / started.length));
  const rows = await Promise.all(started.map((child) => rowOf(engine, caller, child, most)));
  const text = rows.map((row, index) => `${index + 1}. ${row.text}`).join('\n');
  return { text, told: rows.flatMap(({ told }) => told) };
}

/** What each item is given to, or what is wrong with the call. */
function promptsOf(
  { template: name, items }: RunTemplateInput,
  templates: readonly TemplateDefinition[],
): readonly TaskInput[] | MusterError {
  const template = named(name, templates);
  if (template === undefined) {
    const names = sortByNearness(
      name,
      templates.map((each) => each.name),
    );
    return new MusterError(
      'NOT_FOUND',
      `template: there is no ${name}; valid: ${names.join(', ')}`,
    );
  }
  const { parts } = parseBody(template.body);
  const lacking = items.findIndex((item) => missingFields(parts, item).length > 0);
  const missing = missingFields(parts, items[lacking] ?? '');
  if (lacking !== -1) {
    const message = `items: number ${lacking + 1} has no field ${missing.join(', ')}`;
    return new MusterError('INVALID_PARAM', message);
  }
  const count = items.length;
  return items.map((item, index) => wishOf(template, renderPrompt(parts, { item, index, count })));
}

function wishOf({ name, agent, model, maxTurns }: TemplateDefinition, prompt: string): TaskInput {
  return {
    prompt,
    background: false,
    params: { template: name },
    ofTemplate: name,
    ...(agent === undefined ? {} : { subagentType: agent }),
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  };
}

interface Row {
  readonly text: string;
  /** Ids of notices that need not be told any more. */
  readonly told: readonly string[];
}

async function rowOf(
  engine: EngineContext,
  caller: TaskRun,
  child: string | MusterError,
  most: number,
): Promise<Row> {
  if (child instanceof MusterError) {
    return { text: `not begun: ${child.code}: ${child.message}`, told: [] };
  }
  const state = await outcomeOfChild(engine, caller, child);
  if (state === null) {
    return {
      text: `task ${child} · goes on in the background; you are told when it ends`,
      told: [],
    };
  }
  const error = state.end?.error ?? null;
  const whole = collapseWhitespace(fullResult(state));
  const shown = truncate(
    error === null ? whole : `${error.code}: ${error.message}. ${whole}`,
    most,
  );
  const facts = [`task ${child}`, state.status, plural(state.turns, 'turn')];
  const receipt = receiptParts(state, 'counts').join(', ');
  const flags = flagsText(state.activation.claims);
  const parts = [...facts, receipt, ...(flags === '' ? [] : [flags]), shown];
  return { text: parts.join(' · '), told: [endNoticeId(state)] };
}
