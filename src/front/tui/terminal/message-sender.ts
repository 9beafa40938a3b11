import type { Muster } from '../../../api/index.ts';
import type { Enclosed } from '../../../api/enclosing.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { PastedImages } from './pasted-images.ts';
import type { OwnCommands } from './shell-commands.ts';

interface Parts {
  readonly muster: Pick<Muster, 'enclose'>;
  /** The definition that a conversation runs as; null: the main agent. */
  readonly agent: string | null;
  readonly commands: Pick<OwnCommands, 'take'>;
  readonly images: Pick<PastedImages, 'in'>;
  readonly note: (level: 'warning', text: string) => void;
}

/** Whom words are for, and how they get there. */
export interface Listener {
  /** Asked once it is their turn. Null: a conversation that is about to begin. */
  readonly to: () => string | null;
  readonly hear: (text: string, enclosed?: Enclosed) => void;
}

/** Says what a person types, with what goes along; in the order in which it was typed, however long that takes. */
export class Saying {
  private readonly parts: Parts;
  private latest: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Whether something is not said yet. */
  get isGathering(): boolean {
    return this.latest !== null;
  }

  say(text: string, listener: Listener): void {
    const outputs = this.parts.commands.take();
    const images = this.parts.images.in(text);
    const isBare = outputs.length === 0 && images.length === 0 && !text.includes('@');
    if (isBare && this.latest === null) {
      listener.hear(text);
      return;
    }
    const { latest } = this;
    const sayLater = async (): Promise<void> => {
      await latest;
      const enclosed = await this.gather({ words: text, outputs, images, to: listener.to() });
      if (this.latest === said) this.latest = null;
      try {
        listener.hear(text, enclosed);
      } catch (thrown) {
        this.parts.note('warning', errorMessage(thrown));
      }
    };
    const said = sayLater();
    this.latest = said;
  }

  /** What can't go along is told, and the words are said without it. */
  private async gather(
    wish: Pick<Parameters<Muster['enclose']>[0], 'words' | 'outputs' | 'images' | 'to'>,
  ): Promise<Enclosed | undefined> {
    const { muster, agent, note } = this.parts;
    try {
      const enclosed = await muster.enclose({ ...wish, ...(agent === null ? {} : { agent }) });
      for (const problem of enclosed.problems) note('warning', problem);
      return enclosed.enclosures.length === 0 ? undefined : enclosed;
    } catch (thrown) {
      note('warning', `nothing goes along: ${errorMessage(thrown)}`);
      return undefined;
    }
  }
}
