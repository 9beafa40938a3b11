import { suggestNames } from '../../base/name-suggestions.ts';
import { plural } from '../../base/text.ts';
import { fail, ok, warn, type Check } from '../../protocol/check.ts';
import { isForChat, type ListedModel } from '../../protocol/listed-model.ts';
import type { ListOutcome } from '../listing/request-models.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { quoteServerText } from './probe-client.ts';

/** The model that a probe asks, and the reason why. */
export interface ProbeModel {
  readonly id: string;
  /** A clause after "because". */
  readonly reason: string;
}

type Provider = Pick<ConfiguredProvider, 'tiers' | 'models'>;

/** Matches the ids of models that vendors call small. */
const SMALL = /\b(?:mini|nano|tiny|small|lite|flash|fast|haiku|luna)\b/i;
/** Matches the number of parameters in an id: `8b`, `0.6B`, `70b`. */
const SIZE = /(?:^|[-_:/ ])(\d{1,4}(?:\.\d{1,2})?)b(?![a-z\d])/i;

/**
 * Chooses the model that answers a probe soonest and cheapest: one that the server has in its memory, the one that is
 * known to be fast, or a small one. Returns null if there is none for conversations.
 */
export function chooseProbeModel(
  listed: readonly ListedModel[],
  { tiers, models }: Provider,
): ProbeModel | null {
  const forChat = listed.filter(isForChat);
  // Without calls of tools no agent works.
  const withTools = forChat.filter(({ tools }) => tools !== false);
  const fitting = withTools.length > 0 ? withTools : forChat;
  const loaded = fitting.find((model) => model.loaded === true);
  if (loaded !== undefined) return { id: loaded.id, reason: 'the server has loaded it' };
  const known = [tiers.fast, tiers.balanced, tiers.powerful, ...(models ?? [])].find(
    (id) => id !== undefined && (listed.length === 0 || fitting.some((model) => model.id === id)),
  );
  if (known !== undefined) return { id: known, reason: 'it is the usual one of this provider' };
  const smallest = fitting
    .map(({ id }) => ({ id, size: Number(SIZE.exec(id)?.[1] ?? Number.NaN) }))
    .filter(({ size }) => !Number.isNaN(size))
    .toSorted((a, b) => a.size - b.size)[0];
  if (smallest !== undefined) return { id: smallest.id, reason: 'it is the smallest by its name' };
  const small = fitting.find(({ id }) => SMALL.test(id));
  if (small !== undefined) return { id: small.id, reason: 'it is a small one by its name' };
  const [first] = fitting;
  return first === undefined ? null : { id: first.id, reason: 'it is the first one' };
}

/** The result of the step that chooses the model. */
export interface ModelStep {
  readonly check: Check;
  /** The id of the model; null: there is none, so the probe ends. */
  readonly id: string | null;
  /** The facts that the list states about it; null: it is not in the list. */
  readonly listed: ListedModel | null;
}

const NAME = 'models';
const NAME_A_MODEL = 'name a model with --model ID';

/** Chooses the model of a probe. `wanted`: the id that the user has named; null: none. */
export function judgeModels(
  outcome: ListOutcome,
  wanted: string | null,
  provider: Provider,
): ModelStep {
  const models = 'models' in outcome ? outcome.models : [];
  const chosen = wanted ?? chooseProbeModel(models, provider)?.id ?? null;
  const listed = models.find(({ id }) => id === chosen) ?? null;
  return { check: describeModels(outcome, wanted, provider), id: chosen, listed };
}

function describeModels(outcome: ListOutcome, wanted: string | null, provider: Provider): Check {
  const choice = wanted === null ? chooseProbeModel(modelsOf(outcome), provider) : null;
  const use =
    choice === null ? '' : `; ${quoteServerText(choice.id)} is asked, because ${choice.reason}`;
  if ('problem' in outcome) {
    const problem = quoteServerText(
      outcome.problem.replace(/^the server has no list of models: /, ''),
    );
    const detail = `no list: ${problem}${use}`;
    const isRefused = /^HTTP 40[13]\b/.test(outcome.problem);
    if (wanted !== null || choice !== null) return warn(NAME, detail, null);
    return fail(
      NAME,
      detail,
      isRefused
        ? 'name the variable that holds the key: --api-key-env NAME'
        : `correct the URL, or ${NAME_A_MODEL}`,
    );
  }
  const { models, isCut } = outcome;
  const count = `${isCut ? 'more than ' : ''}${plural(models.length, 'model')}`;
  if (wanted !== null) {
    const ids = models.map(({ id }) => id);
    if (ids.includes(wanted)) return ok(NAME, `${count}, among them ${quoteServerText(wanted)}`);
    const near = suggestNames(wanted, ids).map(quoteServerText);
    const others = near.length === 0 ? '' : `; similar: ${near.join(', ')}`;
    return warn(NAME, `${count}, but ${quoteServerText(wanted)} is not among them${others}`, null);
  }
  if (choice !== null) return ok(NAME, `${count}${use}`);
  return models.length === 0
    ? fail(NAME, 'the server has no model', 'load a model at the server')
    : fail(NAME, `${count}, but none for conversations`, NAME_A_MODEL);
}

function modelsOf(outcome: ListOutcome): readonly ListedModel[] {
  return 'models' in outcome ? outcome.models : [];
}
