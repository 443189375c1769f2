/** The steps after the first setup, each with its way and if it is done; on the home screen, too. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { show } from "../../app/commands";
import { prefer } from "../../app/preferences";
import { adminPath, exportPath, spacePath } from "../../app/routes";
import { currentSpace, readSpaces, spaces } from "../../app/store";
import { locale, words } from "../../app/words";
import { adminReady, adminWords, reason, send, State, useLoaded } from "./tools";

export { adminReady as ready };

interface Steps {
  people: boolean;
  space: boolean;
  sign_on: boolean;
  archive: boolean;
  demo_space: string | null;
}

interface StepProps {
  name: string;
  title: string;
  text: string;
  isDone: boolean;
  children: ComponentChildren;
}

function Step({ name, title, text, isDone, children }: StepProps) {
  const w = words.value;
  return (
    <li data-step={name} data-done={isDone}>
      <div class="line-item">
        <div class="grow">
          <strong>{title}</strong>
          <small>{text}</small>
        </div>
        <span class={isDone ? "chip" : "chip off"}>{isDone ? w.isDone : w.isOpen}</span>
        {children}
      </div>
    </li>
  );
}

function useSteps() {
  const steps = useLoaded<Steps>("/api/v1/next-steps");
  const found = steps.data;
  const made = spaces.value.length;
  const before = useRef(made);
  useEffect(() => {
    if (before.current !== made) void steps.again();
    before.current = made;
  }, [made]);
  const isAll =
    found !== undefined &&
    found.people &&
    found.space &&
    found.sign_on &&
    found.archive &&
    found.demo_space !== null;
  return { steps, found, isAll };
}

function List({ found, again }: { found: Steps; again: () => Promise<void> }) {
  const w = adminWords();
  const [problem, setProblem] = useState("");
  const makeTour = async (): Promise<void> => {
    setProblem("");
    try {
      await send("POST", "/api/v1/demo-space", { language: locale.value.slice(0, 2) });
      await Promise.all([again(), readSpaces()]);
      document.querySelector<HTMLElement>("[data-step=tour] a")?.focus();
    } catch (error) {
      setProblem(reason(error));
    }
  };
  const space = currentSpace.value;
  return (
    <>
      <ul class="rows">
        <Step name="people" title={w.stepPeople} text={w.stepPeopleText} isDone={found.people}>
          <a class="button" href={adminPath("people")}>
            {w.invite}
          </a>
        </Step>
        <Step name="space" title={w.stepSpace} text={w.stepSpaceText} isDone={found.space}>
          <button type="button" onClick={() => show("new space")}>
            {words.value.newSpace}
          </button>
        </Step>
        <Step name="sign-on" title={w.stepSignOn} text={w.stepSignOnText} isDone={found.sign_on}>
          <a class="button" href={adminPath("sign-on")}>
            {w.parts["sign-on"]}
          </a>
        </Step>
        <Step name="backup" title={w.stepBackup} text={w.stepBackupText} isDone={found.archive}>
          {space && (
            <a class="button" href={exportPath("space", space.id)}>
              {w.exportOf(space.name)}
            </a>
          )}
        </Step>
        <Step
          name="tour"
          title={w.stepTour}
          text={w.stepTourText}
          isDone={found.demo_space !== null}
        >
          {found.demo_space === null ? (
            <button type="button" onClick={() => void makeTour()}>
              {w.makeTour}
            </button>
          ) : (
            <a class="button" href={spacePath(found.demo_space)}>
              {w.openTour}
            </a>
          )}
        </Step>
      </ul>
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** A part of the administration. */
export function FirstSteps() {
  const w = adminWords();
  const { steps, found } = useSteps();
  return (
    <section aria-labelledby="admin-part">
      <h2 id="admin-part">{w.parts["first-steps"]}</h2>
      <p class="faint">{w.firstStepsText}</p>
      <State of={steps} />
      {found && <List found={found} again={steps.again} />}
    </section>
  );
}

/** On the home screen, until all is done or the person hides it; then it stays in the administration. */
export function HomeSteps() {
  const w = adminWords();
  const { steps, found, isAll } = useSteps();
  useEffect(() => {
    if (isAll) prefer({ firstSteps: false });
  }, [isAll]);
  if (!found || isAll) return null;
  return (
    <section class="managed first-steps" aria-labelledby="home-steps">
      <h2 id="home-steps">{w.parts["first-steps"]}</h2>
      <List found={found} again={steps.again} />
      <button
        type="button"
        onClick={() => {
          document.getElementById("title")?.focus();
          prefer({ firstSteps: false });
        }}
      >
        {w.hideSteps}
      </button>
    </section>
  );
}
