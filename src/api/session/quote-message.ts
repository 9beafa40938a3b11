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
import type { SessionParts } from './session-parts.ts';
import type { MessageQuoteRequest, ImageDescription } from './contract.ts';

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

/** Gathers the items of a person's message for its recipient. */
export class MessageQuoter {
  private readonly parts: Parts;
  private readonly terms: RootDefaults;

  constructor(parts: Parts, terms: RootDefaults) {
    this.parts = parts;
    this.terms = terms;
  }

  gather({ to, agent, signal, ...request }: MessageQuoteRequest): Promise<QuotedItems> {
    return this.parts.engine.quote(this.recipient(to, agent), request, signal);
  }

  async lookAtImage(bytes: Buffer, to: string | null): Promise<ImageDescription> {
    const [{ inspectAttachment }, { describeExcess }] = await Promise.all([
      import('../../tools/attachments/inspect-file.ts'),
      import('../../tools/attachments/inspect-file.ts'),
    ]);
    const attachment = inspectAttachment(bytes);
    if (typeof attachment === 'string') return { facts: null, why: attachment };
    const rules = await this.parts.models.attachments?.(this.modelOf(to));
    const why = describeExcess(attachment) ?? rules?.refusal(attachment) ?? null;
    return { facts: describeAttachment(attachment), why };
  }

  private modelOf(to: string | null) {
    return to === null ? this.terms.model(null) : foldLog(this.parts.store, to).spec.model;
  }

  private recipient(to: string | null, name: string | undefined): QuoteRecipient {
    const { grant, modeFlag } = this.parts;
    if (to === null) {
      const agent = this.terms.agentNamed(name);
      const rights = createRootRights(grant, agent);
      return {
        agent: agent ?? MAIN_AGENT,
        model: this.terms.model(agent),
        rights,
        cwd: this.terms.cwd,
      };
    }
    const isImported = this.parts.store.isImported(to);
    return {
      task: to,
      maxRights: (recorded) => resumedRights(recorded, { grant, modeFlag, isImported }),
    };
  }
}
