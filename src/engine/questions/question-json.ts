import { offeredRules, type Question } from '../../protocol/question.ts';
import type { QuestionJson } from '../../protocol/result.ts';

/** Returns the JSON form of a question, as commands and results print it. */
export function questionJson(question: Question): QuestionJson {
  const { id, kind, task, chain, description = null, tool } = question;
  const rules = offeredRules(question);
  const offersEdits = question.kind === 'permission' && question.offersEdits === true;
  const common = {
    id,
    kind,
    task_id: task,
    chain,
    description,
    tool,
    rules,
    offers_edits: offersEdits,
  };
  if (question.kind !== 'permission') {
    const { text } = question;
    const options = question.kind === 'input' ? question.options : [];
    const form =
      question.kind === 'server'
        ? { server: question.server, fields: question.fields, url: question.url }
        : {};
    return {
      ...common,
      text,
      options,
      ...NO_CALL_FIELDS,
      reason: null,
      rule: null,
      scopes: [],
      ...form,
    };
  }
  const { commands, paths, hosts, edits, input, reason, rule, scopes, modeToGrant, serverSays } =
    question;
  return {
    ...common,
    text: null,
    options: [],
    commands,
    paths,
    hosts,
    edits,
    input,
    reason,
    rule,
    scopes,
    ...(serverSays === undefined ? {} : { server_says: serverSays }),
    ...(modeToGrant === undefined
      ? {}
      : {
          agent_mode: {
            agent: modeToGrant.agent,
            mode: modeToGrant.mode,
            scopes: modeToGrant.scopes,
          },
        }),
  };
}

/** The fields about a call, for a question that is not about one. */
const NO_CALL_FIELDS = { commands: [], paths: [], hosts: [], edits: [], input: null } as const;
