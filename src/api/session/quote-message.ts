import { MusterError } from '../../base/errors.ts';
import type { QuotedItems } from '../../engine/quote/quote.ts';
import type { QuoteRecipient } from '../../engine/quote/recipient.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { createRootRights } from '../../policy/attenuate.ts';
import { describeAttachment } from '../../protocol/attachment.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import { resumedRights } from './resumed-rights.ts';
import type { RootDefaults } from './root-terms.ts';
import type { SessionParts } from './open-session-parts.ts';
import type { Muster } from './contract.ts';

type Parts = Pick<SessionParts, 'engine' | 'grant' | 'modeFlag' | 'models' | 'store'>;

/**
 * Returns the items for a message to a task. Throws INVALID_PARAM for items that were gathered for another task,
 * which may contain what this one must not read.
 */
export function checkQuotedItems(id: string, enclosed: QuotedItems): readonly QuotedItem[] {
  if (enclosed.task === id) return enclosed.enclosures;
  const message = `what goes along was gathered for task ${enclosed.task}, and not for ${id}: gather it with enclose({ to: '${id}', … })`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Creates the functions that gather the items of a person's message for its recipient. */
export function createMessageQuoter(
  { engine, grant, modeFlag, models, store }: Parts,
  terms: RootDefaults,
): Pick<Muster, 'enclose' | 'lookAtImage'> {
  const recipientOf = (to: string | null, name: string | undefined): QuoteRecipient => {
    if (to === null) {
      const agent = terms.agentNamed(name);
      const rights = createRootRights(grant, agent);
      return { agent: agent ?? MAIN_AGENT, model: terms.model(agent), rights, cwd: terms.cwd };
    }
    const current = { grant, modeFlag, isImported: store.isImported(to) };
    return { task: to, maxRights: (recorded) => resumedRights(recorded, current) };
  };
  return {
    async enclose({ to, agent, signal, ...wish }) {
      return engine.quote(recipientOf(to, agent), wish, signal);
    },
    async lookAtImage(bytes, to) {
      const [{ inspectAttachment }, { describeExcess }] = await Promise.all([
        import('../../tools/attachments/inspect-file.ts'),
        import('../../tools/attachments/attachment-limits.ts'),
      ]);
      const facts = inspectAttachment(bytes);
      if (typeof facts === 'string') return { facts: null, why: facts };
      const model = to === null ? terms.model(null) : foldLog(store, to).spec.model;
      const rules = await models.attachments?.(model);
      const why = describeExcess(facts) ?? rules?.refusal(facts) ?? null;
      return { facts: describeAttachment(facts), why };
    },
  };
}
