import { itemRequest } from '../fan-out/fan-out.ts';
import { argumentsSchema, failedCall, ArgumentReader } from './argument-reader.ts';
import { findMissingFields, parseBody, renderPrompt } from '../../agents/templates/render.ts';
import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { TemplateDefinition, TemplateItem } from '../../protocol/template.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { calledAgentNames, waitForChildOutcome, startChild } from '../delegation/delegation.ts';
import { fullResult, endNoticeId } from '../results/result.ts';
import { flagsText } from '../../receipts/answer-flags.ts';
import { receiptParts } from '../../receipts/receipt.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskArguments } from '../task/task-arguments.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';

export interface RunTemplateInput {
  readonly template: string;
  readonly items: readonly TemplateItem[];
}

/** Maximum number of items of a call. */
const MAX_ITEMS = 200;
/** Maximum length of all results together in the table, in UTF-16 units. */
const RESULTS_LENGTH = 20_000;
/** Maximum length of one result in the table, in code points. */
const RESULT_LENGTH = 300;
/** Maximum number of templates that the description names. */
const SHOWN_TEMPLATES = 20;
/** Maximum length of a template's description there, in code points. */
const SHOWN_DESCRIPTION = 80;

/** Creates the tool that runs a template over items, each as a child of the caller. Its output is a table with their ids. */
export function runTemplateTool(engine: EngineContext): Tool<RunTemplateInput> {
  const templates = engine.deps.templates ?? [];
  return {
    name: 'RunTemplate',
    kind: 'delegate',
    // Run again after a crash, it finds the children that it had created.
    replay: 'keyed',
    waits: () => true,
    description: `Run a template over items: a subagent each, in parallel. Gives a table; TaskOutput has each whole result. Templates: ${templateList(templates)}`,
    inputSchema: argumentsSchema(['template', 'items'], {
      template: { type: 'string' },
      items: {
        type: 'array',
        maxItems: MAX_ITEMS,
        description: 'Texts, or objects with the fields that the template names',
        items: { type: ['string', 'object'] },
      },
    }),
    parse,
    describe: ({ template }) => {
      const found = findTemplate(template, templates);
      if (found === undefined) return NO_ACCESS;
      const [agent, ...agentWords] = calledAgentNames(engine, itemInput(found, ''));
      return agent === undefined ? NO_ACCESS : { ...NO_ACCESS, agent, agentWords };
    },
    run: (input, context) => runTemplate(engine, input, context),
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

function findTemplate(
  name: string,
  templates: readonly TemplateDefinition[],
): TemplateDefinition | undefined {
  const wanted = name.toLowerCase();
  return templates.find((each) => each.name.toLowerCase() === wanted);
}

function parse(value: JsonValue): ValidationResult<RunTemplateInput> {
  const args = new ArgumentReader(value, ['template', 'items']);
  const template = args.text('template', 'the name of a template');
  const items = itemsIn(isJsonObject(value) ? value['items'] : undefined);
  if (items === undefined) {
    args.issues.push(`items: must be a list of 1 to ${MAX_ITEMS} texts or objects`);
  }
  return args.result({ template, items: items ?? [] });
}

function itemsIn(value: JsonValue | undefined): readonly TemplateItem[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ITEMS) return undefined;
  const items = value.filter(
    (each: JsonValue): each is TemplateItem => typeof each === 'string' || isJsonObject(each),
  );
  return items.length === value.length ? items : undefined;
}

async function runTemplate(
  engine: EngineContext,
  input: RunTemplateInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const caller = requireCaller(engine, context);
  const inputs = itemInputs(input, engine.deps.templates ?? []);
  if (inputs instanceof MusterError) return failedCall('RunTemplate', inputs);
  const started: (string | MusterError)[] = [];
  for (const [index, item] of inputs.entries()) {
    // Started one after another, since each counts towards the limits of the next.
    const callId = `${context.callId}/${index}`;
    started.push(await startChild(engine, { caller, callId, input: item }));
  }
  const maxLength = Math.min(RESULT_LENGTH, Math.floor(RESULTS_LENGTH / started.length));
  const rows = await Promise.all(started.map((child) => rowOf(engine, caller, child, maxLength)));
  const text = rows.map((row, index) => `${index + 1}. ${row.text}`).join('\n');
  return { text, told: rows.flatMap(({ told }) => told) };
}

/** Returns the Task input of each item, or the error in the call. */
function itemInputs(
  { template: name, items }: RunTemplateInput,
  templates: readonly TemplateDefinition[],
): readonly TaskArguments[] | MusterError {
  const template = findTemplate(name, templates);
  if (template === undefined) {
    const names = sortByNearness(
      name,
      templates.map((each) => each.name),
    );
    const message = `template: there is no ${name}; valid: ${names.join(', ')}`;
    return new MusterError('NOT_FOUND', message);
  }
  const { parts } = parseBody(template.body);
  const lacking = items.findIndex((item) => findMissingFields(parts, item).length > 0);
  const missing = findMissingFields(parts, items[lacking] ?? '');
  if (lacking !== -1) {
    const message = `items: number ${lacking + 1} has no field ${missing.join(', ')}`;
    return new MusterError('INVALID_PARAM', message);
  }
  const count = items.length;
  return items.map((item, index) =>
    itemInput(template, renderPrompt(parts, { item, index, count })),
  );
}

function itemInput(template: TemplateDefinition, prompt: string): TaskArguments {
  const { name } = template;
  const request = itemRequest(template, prompt);
  return { ...request, background: false, params: { template: name }, templateName: name };
}

interface Row {
  readonly text: string;
  /** Ids of the notices that this row makes unnecessary. */
  readonly told: readonly string[];
}

async function rowOf(
  engine: EngineContext,
  caller: TaskRun,
  child: string | MusterError,
  maxLength: number,
): Promise<Row> {
  if (child instanceof MusterError) {
    return { text: `not started: ${child.code}: ${child.message}`, told: [] };
  }
  const state = await waitForChildOutcome(engine, caller, child);
  if (state === null) {
    const text = `task ${child} · goes on in the background; you are told when it ends`;
    return { text, told: [] };
  }
  const error = state.end?.error ?? null;
  const result = collapseWhitespace(fullResult(state));
  const shown = truncate(
    error === null ? result : `${error.code}: ${error.message}. ${result}`,
    maxLength,
  );
  const summary = [`task ${child}`, state.status, plural(state.turns, 'turn')];
  const receipt = receiptParts(state, 'counts').join(', ');
  const flags = flagsText(state.activation.claims);
  const parts = [...summary, receipt, ...(flags === '' ? [] : [flags]), shown];
  return { text: parts.join(' · '), told: [endNoticeId(state)] };
}
