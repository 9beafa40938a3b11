import { MusterError } from '../../base/errors.ts';
import type { QuotedItems } from '../../engine/quote/quote.ts';
import type { QuoteRecipient } from '../../engine/quote/recipient.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { parseRuleChange, type RuleChange } from '../../engine/permissions/change-rules.ts';
import { createRootRights } from '../../policy/attenuate.ts';
import { addRestrictions } from '../../policy/conversation-rules.ts';
import { narrowerMode } from '../../policy/modes.ts';
import { describeAttachment } from '../../protocol/attachment.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { Rights } from '../../protocol/permission.ts';
import { parseCompactRequest } from './compaction.ts';
import { computeResumedRights } from './resumed-rights.ts';
import type { RootDefaults } from './root-terms.ts';
import type { SessionParts } from './session-parts.ts';
import type { MessageQuoteRequest, ImageDescription } from './contract.ts';

type Parts = Pick<SessionParts, 'engine' | 'grant' | 'modeFlag' | 'models' | 'store'>;

/**
 * Returns the items for a message to a task. Throws `INVALID_PARAM` if they were gathered for another task, because
 * they may contain files that this task must not read.
 */
export function checkQuotedItems(id: string, enclosed: QuotedItems): readonly QuotedItem[] {
  if (enclosed.task === id) return enclosed.enclosures;
  const message = `the quoted items were gathered for task ${enclosed.task}, not for task ${id}: gather them with enclose({ to: '${id}', … })`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Adds the rules that the user has set for a conversation that has not begun. */
function addChosenRules(rights: Rights, changes: readonly RuleChange[]): Rights {
  const added = changes.filter(({ kind }) => kind === 'add');
  const parsed = added.map((change) => ({ list: change.list, rule: parseRuleChange(change) }));
  const allow = parsed.flatMap(({ list, rule }) => (list === 'allow' ? [rule] : []));
  const restrictions = parsed.flatMap(({ list, rule }) =>
    list === 'allow' ? [] : [{ list, rule }],
  );
  const { rules } = rights;
  return addRestrictions(
    { ...rights, rules: { ...rules, allow: [...rules.allow, ...allow] } },
    restrictions,
  );
}

/** Gathers the items that a person sends along with a message. */
export class MessageQuoter {
  private readonly parts: Parts;
  private readonly defaults: RootDefaults;

  constructor(parts: Parts, defaults: RootDefaults) {
    this.parts = parts;
    this.defaults = defaults;
  }

  gather(request: MessageQuoteRequest): Promise<QuotedItems> {
    const { to, agent: _, mode: __, rules: ___, signal, requiresKnownCommand, ...items } = request;
    // A conversation that continues with this text is compacted.
    const isOwn = to !== null && parseCompactRequest(items.words) !== null;
    return this.parts.engine.quote(
      this.createRecipient(request),
      {
        ...items,
        ...(requiresKnownCommand === true && !isOwn ? { requiresKnownCommand } : {}),
      },
      signal,
    );
  }

  async lookAtImage(bytes: Buffer, to: string | null): Promise<ImageDescription> {
    const [{ inspectAttachment }, { describeExcess }] = await Promise.all([
      import('../../tools/attachments/inspect-file.ts'),
      import('../../tools/attachments/inspect-file.ts'),
    ]);
    const attachment = inspectAttachment(bytes);
    if (typeof attachment === 'string') return { facts: null, why: attachment };
    const rules = await this.parts.models.attachments?.(this.findModel(to));
    const why = describeExcess(attachment) ?? rules?.refusal(attachment) ?? null;
    return { facts: describeAttachment(attachment), why };
  }

  private findModel(to: string | null) {
    return to === null
      ? this.defaults.resolveModel(null)
      : foldLog(this.parts.store, to).spec.model;
  }

  private createRecipient({
    to,
    agent: name,
    mode,
    rules = [],
  }: Pick<MessageQuoteRequest, 'to' | 'agent' | 'mode' | 'rules'>): QuoteRecipient {
    const { grant, modeFlag } = this.parts;
    if (to === null) {
      const agent = this.defaults.findMainAgent(name);
      const ownRights = createRootRights(this.defaults.createGrant(mode), agent);
      const rights = addChosenRules(ownRights, rules);
      return {
        agent: agent ?? MAIN_AGENT,
        model: this.defaults.resolveModel(agent),
        rights,
        cwd: this.defaults.cwd,
      };
    }
    const isImported = this.parts.store.isImported(to);
    return {
      task: to,
      maxRights: (recorded) => {
        const rights = computeResumedRights(recorded, { grant, modeFlag, isImported });
        return mode === undefined ? rights : { ...rights, mode: narrowerMode(rights.mode, mode) };
      },
    };
  }
}
