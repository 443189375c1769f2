/** The visits of a link: a chart of the last 90 days, and the same numbers as a table. */
import { locale, words } from "../../app/words";
import { useAnswer } from "./parts";
import { around } from "./words";

interface Day {
  day: string;
  views: number;
  visitors: number;
}

interface Statistics {
  views: number;
  visitors: number;
  days: Day[];
}

const DAYS = 90;
const DAY_MS = 86_400_000;
const [WIDTH, HEIGHT] = [900, 110];

/** The last days, also those without a visit, the oldest first. */
function everyDay(days: readonly Day[], now = Date.now()): Day[] {
  const known = new Map(days.map((one) => [one.day, one]));
  return Array.from({ length: DAYS }, (_, at) => {
    const day = new Date(now - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10);
    return known.get(day) ?? { day, views: 0, visitors: 0 };
  });
}

const named = (day: string): string =>
  new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeZone: "UTC" }).format(
    new Date(`${day}T00:00:00Z`),
  );

function Chart({ days }: { days: Day[] }) {
  const most = Math.max(1, ...days.map((one) => one.views));
  const step = WIDTH / days.length;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" preserveAspectRatio="none">
        <title>{around.value.daysChart(days.length)}</title>
        {days.map((one, at) => {
          const height = one.views ? Math.max(4, (one.views / most) * HEIGHT) : 1.5;
          return (
            <rect
              key={one.day}
              class={one.views ? "" : "none"}
              x={at * step + 1}
              y={HEIGHT - height}
              width={step - 2}
              height={height}
            />
          );
        })}
      </svg>
      <figcaption class="faint">
        <span>{named(days[0]?.day ?? "")}</span>
        <span>{named(days.at(-1)?.day ?? "")}</span>
      </figcaption>
    </figure>
  );
}

export function Visits({ path }: { path: string }) {
  const a = around.value;
  const found = useAnswer<Statistics>(path);
  const numbers = found.answer;
  if (!numbers) {
    return (
      <p class="faint" role="status">
        {found.problem ? words.value.failed : words.value.loading}
      </p>
    );
  }
  if (!numbers.views) return <p class="faint">{a.noVisits}</p>;
  return (
    <>
      <p class="numbers">
        <strong>{a.views(numbers.views)}</strong>
        <span>{a.visitors(numbers.visitors)}</span>
      </p>
      <Chart days={everyDay(numbers.days)} />
      <details>
        <summary>{a.asTable}</summary>
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">{a.day}</th>
              <th scope="col">{a.visitsHead}</th>
              <th scope="col">{a.visitorsHead}</th>
            </tr>
          </thead>
          <tbody>
            {[...numbers.days].reverse().map((one) => (
              <tr key={one.day}>
                <th scope="row">{named(one.day)}</th>
                <td>{one.views.toLocaleString(locale.value)}</td>
                <td>{one.visitors.toLocaleString(locale.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
