import { createItemRequest } from '../fan-out/fan-out.ts';
import { argumentsSchema, failedCall, ArgumentReader } from './argument-reader.ts';
import { findMissingFields, parseBody, renderPrompt } from '../../agents/templates/render.ts';
import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { sortByNearness } from '../../base/name-suggestions.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { TemplateDefinition, TemplateItem } from '../../protocol/template.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { listCalledAgentNames, waitForChildOutcome, startChild } from '../delegation/delegation.ts';
import { fullResult, endNoticeId } from '../results/result.ts';
import { formatFlags } from '../../receipts/answer-flags.ts';
import { formatReceiptParts } from '../../receipts/receipt.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskArguments } from '../task/task-arguments.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';

/** The input of RunTemplate. */
export interface RunTemplateInput {
  readonly template: string;
  readonly items: readonly TemplateItem[];
}

/** The maximum number of items of a call. */
const MAX_ITEMS = 200;
/** The maximum length of all results together in the table, in UTF-16 units. */
const MAX_RESULTS_LENGTH = 20_000;
/** The maximum length of one result in the table, in code points. */
const MAX_RESULT_LENGTH = 300;
/** The maximum number of templates in the description of the tool. */
const MAX_SHOWN_TEMPLATES = 20;
/** The maximum length of a template's description in the description of the tool, in code points. */
const MAX_DESCRIPTION_LENGTH = 80;

/**
 * Creates the tool that runs a template over items, with one child of the caller for each item. Its output is a table
 * with the ids of the children.
 */
export function runTemplateTool(engine: EngineContext): Tool<RunTemplateInput> {
  const templates = engine.deps.templates ?? [];
  return {
    name: 'RunTemplate',
    kind: 'delegate',
    // A call that runs again after a crash finds the children that it had created.
    replay: 'keyed',
    waits: () => true,
    description: `Run a template over items: a subagent each, in parallel. Gives a table; TaskOutput has each whole result. Templates: ${formatTemplateList(templates)}`,
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
      const [agent, ...agentWords] = listCalledAgentNames(engine, toTaskArguments(found, ''));
      return agent === undefined ? NO_ACCESS : { ...NO_ACCESS, agent, agentWords };
    },
    run: (input, context) => runTemplate(engine, input, context),
  };
}

function formatTemplateList(templates: readonly TemplateDefinition[]): string {
  const shown = templates
    .slice(0, MAX_SHOWN_TEMPLATES)
    .map(
      ({ name, description }) =>
        `${name} (${truncate(collapseWhitespace(description), MAX_DESCRIPTION_LENGTH)})`,
    );
  const more = templates.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

function findTemplate(
  name: string,
  templates: readonly TemplateDefinition[],
): TemplateDefinition | undefined {
  const lowerName = name.toLowerCase();
  return templates.find((each) => each.name.toLowerCase() === lowerName);
}

function parse(value: JsonValue): ValidationResult<RunTemplateInput> {
  const args = new ArgumentReader(value, ['template', 'items']);
  const template = args.text('template', 'the name of a template');
  const items = readItems(isJsonObject(value) ? value['items'] : undefined);
  if (items === undefined) {
    args.issues.push(`items: must be a list of 1 to ${MAX_ITEMS} texts or objects`);
  }
  return args.result({ template, items: items ?? [] });
}

/** Returns the items in an argument, or undefined if it is not a list of valid items. */
function readItems(value: JsonValue | undefined): readonly TemplateItem[] | undefined {
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
  const inputs = buildItemArguments(input, engine.deps.templates ?? []);
  if (inputs instanceof MusterError) return failedCall('RunTemplate', inputs);
  const started: (string | MusterError)[] = [];
  for (const [index, item] of inputs.entries()) {
    // Start the children one after another, because each child counts towards the limits of the next one.
    const callId = `${context.callId}/${index}`;
    started.push(await startChild(engine, { caller, callId, input: item }));
  }
  const maxLength = Math.min(MAX_RESULT_LENGTH, Math.floor(MAX_RESULTS_LENGTH / started.length));
  const rows = await Promise.all(
    started.map((child) => waitForRow(engine, caller, child, maxLength)),
  );
  const text = rows.map((row, index) => `${index + 1}. ${row.text}`).join('\n');
  return { text, told: rows.flatMap(({ told }) => told) };
}

/** Returns the arguments of the Task call for each item, or the error in the call. */
function buildItemArguments(
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
  const incomplete = items.findIndex((item) => findMissingFields(parts, item).length > 0);
  const missing = findMissingFields(parts, items[incomplete] ?? '');
  if (incomplete !== -1) {
    const message = `items: number ${incomplete + 1} has no field ${missing.join(', ')}`;
    return new MusterError('INVALID_PARAM', message);
  }
  const count = items.length;
  return items.map((item, index) =>
    toTaskArguments(template, renderPrompt(parts, { item, index, count })),
  );
}

function toTaskArguments(template: TemplateDefinition, prompt: string): TaskArguments {
  const { name } = template;
  const request = createItemRequest(template, prompt);
  return { ...request, background: false, params: { template: name }, templateName: name };
}

interface TableRow {
  readonly text: string;
  /** The ids of the notices that this row replaces. */
  readonly told: readonly string[];
}

async function waitForRow(
  engine: EngineContext,
  caller: TaskRun,
  child: string | MusterError,
  maxLength: number,
): Promise<TableRow> {
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
  const receipt = formatReceiptParts(state, 'counts').join(', ');
  const flags = formatFlags(state.activation.claims);
  const parts = [...summary, receipt, ...(flags === '' ? [] : [flags]), shown];
  return { text: parts.join(' · '), told: [endNoticeId(state)] };
}
