import { errorMessage } from '../../../base/errors.ts';
import { describeChanges, findRemoval } from '../model/rule-actions.ts';
import type { RuleChange } from '../../../api/index.ts';
import type { EffectOf, EffectOptions } from './effect-options.ts';

type RuleEffectOptions = Pick<EffectOptions, 'library' | 'conversation' | 'state' | 'dispatch'>;

/** The effects that list and change the permission rules of the conversation. */
export class RuleEffects {
  private readonly options: RuleEffectOptions;

  constructor(options: RuleEffectOptions) {
    this.options = options;
  }

  /** Lists the rules of a task, or of the conversation if `task` is null. */
  async list({ task }: EffectOf<'list-rules'>, problem = ''): Promise<void> {
    const { library, conversation, state, dispatch } = this.options;
    const rules = await library.listRules(task ?? conversation.id, state().newRules);
    dispatch({ type: 'rules-read', rules, problem });
  }

  /** Changes rules one after the other, says what was done, and lists the rules again if their list is open. */
  async change({ changes, done }: EffectOf<'change-rules'>): Promise<void> {
    const { dispatch, state } = this.options;
    let problem = '';
    try {
      for (const change of changes) await this.changeOne(change);
      dispatch({ type: 'note', level: 'info', text: done });
    } catch (thrown) {
      problem = errorMessage(thrown);
      dispatch({ type: 'note', level: 'warning', text: problem });
    }
    if (state().picker?.kind !== 'rules') return;
    await this.list({ type: 'list-rules', task: state().openTask }, problem);
  }

  async remove({ list, rule }: EffectOf<'remove-rule'>): Promise<void> {
    const { library, conversation, state, dispatch } = this.options;
    const { rules } = await library.listRules(conversation.id, state().newRules);
    const found = findRemoval(rules, { list, rule });
    if (typeof found === 'string') dispatch({ type: 'note', level: 'warning', text: found });
    else {
      const changes = [found];
      await this.change({ type: 'change-rules', changes, done: describeChanges(changes) });
    }
  }

  /** Changes a rule. Rules for a conversation that has not begun are kept until it begins. */
  private async changeOne(change: RuleChange): Promise<void> {
    const { library, conversation, state, dispatch } = this.options;
    if (conversation.id !== null || change.scope !== 'task') {
      await library.changeRule(conversation.id, change);
      return;
    }
    const { newRules } = state();
    const others = newRules.filter(
      ({ list, rule }) => list !== change.list || rule !== change.rule,
    );
    const rules = change.kind === 'add' ? [...others, change] : others;
    // This checks the rule.
    await library.listRules(null, rules);
    dispatch({ type: 'new-rules', rules });
  }
}
