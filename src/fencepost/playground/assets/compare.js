// The same program under all models: one row for each question, filled in as its answer comes.
import { element, prose } from "/assets/dom.js";

const AT_ONCE = 3;

/**
 * Fill `parent` with the table. `find(question, progressed)` gives the end of a search, `open(question,
 * answer)` shows a whole answer, `shown(answer)` puts the table of outcomes below the others. Gives the first
 * mistake, which ends everything, or null.
 */
export async function compare(parent, questions, running, { find, open, outcomes }) {
  const table = element("table", "", "models");
  table.append(element("caption", "The program under every model"));
  const rows = questions.map((question, i) => row(table, question, questions[i - 1]?.group));
  parent.replaceChildren(table);
  const left = [...questions.entries()];
  let mistake = null;
  const work = async () => {
    while (left.length && !mistake) {
      const [i, question] = left.shift();
      const end = await find(question, (words) => (rows[i].reason.textContent = words));
      if (end.mistake || end.aborted) {
        mistake ??= end;
        return;
      }
      fill(rows[i], end, () => open(question, end.answer));
      if (question.unrolls && end.answer) outcomes(end.answer);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(AT_ONCE, running)) }, work));
  return mistake;
}

function row(table, question, groupBefore) {
  if (question.group !== groupBefore) {
    const head = element("th", question.group);
    head.colSpan = 3;
    head.scope = "rowgroup";
    const body = element("tbody");
    body.append(element("tr"));
    body.rows[0].append(head);
    table.append(body);
  }
  const made = table.tBodies[table.tBodies.length - 1].insertRow();
  const name = element("th", question.words);
  name.scope = "row";
  const badge = element("td");
  badge.append(element("span", "…", "waiting"));
  const reason = element("td", "", "reason");
  made.append(name, badge, reason);
  return { badge, reason };
}

function fill({ badge, reason }, end, open) {
  if (!end.answer) {
    // Such as that the program asks nothing of this kind, or that the model does not take it.
    badge.replaceChildren(element("span", end.unasked ? "not asked" : "no answer", "badge warn"));
    const why = end.unasked?.replace(/^nothing was asked: /, "") ?? end.failure;
    reason.replaceChildren(...prose(why.replace(/^./, (first) => first.toUpperCase())));
    return;
  }
  const { answer } = end;
  const button = element("button", answer.verdict, `badge ${answer.mood}`);
  button.addEventListener("click", open);
  badge.replaceChildren(button);
  reason.replaceChildren(...prose(answer.reason));
  reason.title = answer.reason;
}
