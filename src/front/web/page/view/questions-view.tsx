import { formatClockTime } from '../../../../base/local-time.ts';
import { questionSubject } from '../../../../protocol/question.ts';
import { truncate } from '../../../../base/text.ts';
import { usePage } from './page-context.ts';
import { QuestionCard } from './question-card.tsx';

/** The maximum number of questions that are shown at once. */
const MAX_SHOWN = 40;

/** The inbox: all open questions, those that were put off last, and the questions that were closed meanwhile. */
export function QuestionsView() {
  const { store } = usePage();
  const open = [...store.questions.values()].toSorted(
    (a, b) => Number(a.isPutOff) - Number(b.isPutOff) || a.askedAt - b.askedAt,
  );
  return (
    <div class="questions">
      <h1 tabIndex={-1}>Questions</h1>
      {open.length === 0 && <p class="empty">No question waits for you.</p>}
      {open.slice(0, MAX_SHOWN).map((each) => (
        <QuestionCard key={each.question.id} asked={each} isBrief={false} />
      ))}
      {open.length > MAX_SHOWN && (
        <p class="note">{open.length - MAX_SHOWN} more follow when these are answered.</p>
      )}
      {store.closed.length > 0 && (
        <section class="closed">
          <h2>Closed while this page was open</h2>
          <ul>
            {store.closed.map(({ question, closed, isOwn }) => (
              <li key={`${closed.id} ${closed.outcome}`} data-closed={closed.id}>
                <span class="mono">{truncate(questionSubject(question.question), 120)}</span>
                <span>
                  {closed.outcome}
                  {isOwn ? ', here' : ', elsewhere'}
                </span>
                <time>{formatClockTime(question.askedAt)}</time>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
