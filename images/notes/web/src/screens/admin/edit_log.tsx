/** For how many days each edit is kept: the time of which the history shows any moment. */
import { useState } from "preact/hooks";
import { notice } from "../../app/store";
import { adminWords, Ask, Form, send, State, textOf, useLoaded } from "./tools";

interface EditLog {
  days: number;
}

const PATH = "/api/v1/edit-log";
const MOST_DAYS = 3650;

export function KeptEdits() {
  const w = adminWords();
  const log = useLoaded<EditLog>(PATH);
  const [fewer, setFewer] = useState(0);
  const now = log.data?.days;
  const save = async (days: number): Promise<void> => {
    await send("PUT", PATH, { days });
    setFewer(0);
    notice.value = w.editsKept(days);
    await log.again();
  };
  const submit = async (fields: FormData): Promise<void> => {
    const days = Number(textOf(fields, "days"));
    // What is older is deleted soon after: that is asked first.
    if (now !== undefined && days < now) setFewer(days);
    else await save(days);
  };
  const back = (): void => {
    setFewer(0);
    document.querySelector<HTMLElement>("[data-edit-log] input")?.focus();
  };
  return (
    <section aria-labelledby="limits-edits" data-edit-log>
      <h3 id="limits-edits">{w.editLog}</h3>
      <p class="faint">{w.editLogText}</p>
      <State of={log} />
      {now !== undefined && (
        <Form title={w.save} act={submit} isKept>
          <label class="field">
            {w.editLogDays}
            <input
              type="number"
              name="days"
              min={1}
              max={MOST_DAYS}
              step={1}
              required
              defaultValue={String(now)}
            />
          </label>
        </Form>
      )}
      {fewer > 0 && (
        <Ask
          question={w.fewerDaysAsk(fewer)}
          title={w.keepFewer}
          act={async () => {
            await save(fewer);
            document.querySelector<HTMLElement>("[data-edit-log] input")?.focus();
          }}
          cancel={back}
        />
      )}
    </section>
  );
}
