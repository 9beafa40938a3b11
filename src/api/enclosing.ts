import { MusterError } from '../base/errors.ts';
import type { EnclosureWish, Enclosed } from '../engine/enclose/enclose.ts';
import type { Addressee } from '../engine/enclose/receiver.ts';
import { foldLog } from '../engine/fold-log.ts';
import { MAIN_AGENT } from '../engine/main-agent.ts';
import { rootRights } from '../policy/attenuate.ts';
import { describeAttachment } from '../protocol/attachment.ts';
import type { Enclosure } from '../protocol/enclosure.ts';
import { resumedRights } from './resumed-rights.ts';
import type { RootTerms } from './root-terms.ts';
import type { SessionParts } from './session-parts.ts';

export type { CommandOutput, Enclosed, ShownImage } from '../engine/enclose/enclose.ts';

/** What a person lays beside their next words. */
export interface EncloseRequest extends EnclosureWish {
  /** The whole id of the task that they are for; null: a conversation that is about to begin. */
  readonly to: string | null;
  /** Of a conversation that is about to begin: the agent that it runs as. Default: the main agent. */
  readonly agent?: string;
  /** Gives up: the gathering then rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** What is known of an image before it is shown to anybody. */
export interface ImageLook {
  /** `PNG image, 640 × 480 pixels, 12345 bytes`; null: it is no image. */
  readonly facts: string | null;
  /** Why the model of a conversation can't be shown it; null: it can. */
  readonly why: string | null;
}

type Parts = Pick<SessionParts, 'engine' | 'grant' | 'modeFlag' | 'models' | 'store'>;

/**
 * What goes with words to a task. Throws INVALID_PARAM for what was gathered for another one: what was
 * read for it may be what this one may not read.
 */
export function enclosuresFor(id: string, enclosed: Enclosed): readonly Enclosure[] {
  if (enclosed.task === id) return enclosed.enclosures;
  const message = `what goes along was gathered for task ${enclosed.task}, and not for ${id}: gather it with enclose({ to: '${id}', … })`;
  throw new MusterError('INVALID_PARAM', message);
}

/** What goes with a person's words, for whom they are said to. */
export class Enclosing {
  private readonly parts: Parts;
  private readonly terms: RootTerms;

  constructor(parts: Parts, terms: RootTerms) {
    this.parts = parts;
    this.terms = terms;
  }

  gather({ to, agent, signal, ...wish }: EncloseRequest): Promise<Enclosed> {
    return this.parts.engine.enclose(this.addressee(to, agent), wish, signal);
  }

  async lookAtImage(bytes: Buffer, to: string | null): Promise<ImageLook> {
    const [{ inspectAttachment: wholeFacts }, { describeExcess: whyTooLarge }] = await Promise.all([
      import('../tools/attachments/inspect-file.ts'),
      import('../tools/attachments/attachment-limits.ts'),
    ]);
    const facts = wholeFacts(bytes);
    if (typeof facts === 'string') return { facts: null, why: facts };
    const rules = await this.parts.models.attachments?.(this.modelOf(to));
    const why = whyTooLarge(facts) ?? rules?.refusal(facts) ?? null;
    return { facts: describeAttachment(facts), why };
  }

  private modelOf(to: string | null) {
    return to === null ? this.terms.model(null) : foldLog(this.parts.store, to).spec.model;
  }

  private addressee(to: string | null, name: string | undefined): Addressee {
    const { grant, modeFlag } = this.parts;
    if (to === null) {
      const agent = this.terms.agentNamed(name);
      const rights = rootRights(grant, agent);
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
      ceiling: (recorded) => resumedRights(recorded, { grant, modeFlag, isImported }),
    };
  }
}
